/** What answers one route of the local server. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { EventHub } from "../events/hub.ts";
import type { LocalCalls } from "./local-calls.ts";

/** What routes work with. */
export interface LocalParts {
  readonly calls: LocalCalls;
  readonly hub: EventHub;
}

/** Throws MatrxError, or what the server logs and answers with `INTERNAL`. */
export type Answer = (
  request: IncomingMessage,
  response: ServerResponse,
  parts: LocalParts,
) => void | Promise<void>;
