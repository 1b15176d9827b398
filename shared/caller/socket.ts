/** The description of the caller link. The host implements the upgrade itself. */
import * as z from "zod";
import { type MatrxError, relayError } from "../errors.ts";
import type { Answer, Operation } from "../openapi/operation.ts";
import { SESSION_HEADER } from "../tokens.ts";

/** A successful upgrade; its body is the link itself. */
export const switched = (link: string): Answer => ({
  description: `The connection is a WebSocket now: the ${link}, see docs/protocol.md.`,
  headers: {
    Upgrade: { schema: z.literal("websocket"), description: "As requested", required: true },
  },
});

export const socketOperation: Operation = {
  method: "GET",
  path: "/ws",
  id: "openCallerLink",
  tag: "Links",
  summary: "Caller link (WebSocket)",
  description:
    "A request without `Upgrade: websocket` gets 400. Browsers authenticate with the subprotocols `matrx.v1, bearer.TOKEN`, or with a ticket.",
  access: "caller",
  query: {
    session: { schema: z.string(), description: "Continue this session" },
    ticket: { schema: z.string(), description: "A one-use ticket, instead of another credential" },
  },
  answers: {
    101: {
      ...switched("caller link"),
      headers: {
        ...switched("caller link").headers,
        [SESSION_HEADER]: { schema: z.string(), description: "The session", required: true },
      },
    },
  },
  errors: ["INVALID_MESSAGE", "INVALID_PARAMETERS", "RATE_LIMITED"],
};

/** The error for a request to a link that is not an upgrade. */
export function notUpgradedError(): MatrxError {
  return relayError("INVALID_MESSAGE", "This path accepts only WebSockets", {
    hint: "Open it with a WebSocket client (ws:// or wss://)",
  });
}
