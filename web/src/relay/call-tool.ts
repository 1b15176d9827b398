/** Tools of a machine that pages call by themselves: one call, and its end. */
import { create } from "zustand";
import { say } from "../ui/notices.ts";
import { ApiError } from "./api-error.ts";
import type { Tool } from "./call.ts";
import type { CallAnswer, CallEvent } from "./call-events.ts";
import { newCall } from "./way.ts";

/** What a tool says besides its text; a machine may say anything. */
export type Metadata = Readonly<Record<string, unknown>>;

/**
 * Calls a tool and resolves to the metadata of its answer. Throws ApiError: also what the tool itself refused. One with an
 * effect is made once, whatever connection breaks meanwhile. With `signal`, what only reads is stopped when that says so.
 */
export async function callTool(
  device: string,
  tool: Tool,
  input: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<Metadata> {
  const call = newCall(device, tool);
  const asked: Asked = { device, tool: tool.name };
  const leave = () => call.leave();
  signal?.addEventListener("abort", leave, { once: true });
  try {
    const answer = await call.run(input, {
      onCall: () => undefined,
      onEvent: (event) => noteQuestion(event, asked),
      onTrouble: say,
    });
    signal?.throwIfAborted();
    if (!answer) throw new Error("Nobody waits for the answer any more");
    return metadataOf(answer);
  } finally {
    signal?.removeEventListener("abort", leave);
    forgetQuestion(asked);
  }
}

interface Asked {
  readonly device: string;
  readonly tool: string;
}

/** Calls of this page that wait for a person's yes. */
export const useAsked = create<{ readonly calls: readonly Asked[] }>(() => ({ calls: [] }));

function noteQuestion(event: CallEvent, asked: Asked): void {
  if (event.type !== "approval") return;
  forgetQuestion(asked);
  if (event.state !== "pending") return;
  useAsked.setState(({ calls }) => ({ calls: [...calls, asked] }));
  say("This needs a person's yes: it waits under Activity, Needs you.");
}

function forgetQuestion(asked: Asked): void {
  useAsked.setState(({ calls }) => ({ calls: calls.filter((one) => one !== asked) }));
}

function metadataOf({ type, output, code, hint, hop, metadata }: CallAnswer): Metadata {
  if (type === "success") return metadata ?? {};
  throw new ApiError(422, {
    detail: output,
    ...(code !== undefined && { code }),
    ...(hint !== undefined && { hint }),
    ...(hop !== undefined && { hop }),
    ...metadata,
  });
}
