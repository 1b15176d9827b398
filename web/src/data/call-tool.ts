/** Tools of a machine that pages call by themselves: one call, and its end. */
import { create } from "zustand";
import { ApiError } from "../relay/api-error.ts";
import type { Tool } from "../relay/call.ts";
import type { CallAnswer } from "../relay/call-events.ts";
import type { CallListener } from "../relay/known-call.ts";
import { waitsNotice } from "../ui/approval-words.ts";
import { say } from "../ui/notices.ts";
import { newCall } from "./way.ts";

/** What a tool says besides its text; a machine may say anything. */
export type Metadata = Readonly<Record<string, unknown>>;

export interface ToolCallOptions {
  /** What only reads is stopped when it says so. */
  readonly signal?: AbortSignal;
  /** Told when the call begins to wait for a person's yes, and when it goes on; otherwise a notice says that it waits. */
  readonly onAsked?: (isAsked: boolean) => void;
}

/**
 * Calls a tool and resolves to the metadata of its answer. Throws ApiError: also what the tool itself refused. One with an
 * effect is made once, whatever connection breaks meanwhile.
 */
export async function callTool(
  device: string,
  tool: Tool,
  input: Record<string, unknown>,
  { signal, onAsked = sayQuestion }: ToolCallOptions = {},
): Promise<Metadata> {
  const call = newCall(device, tool);
  const waiting: WaitingCall = { device, tool: tool.name };
  let isAsked = false;
  const leave = () => {
    if (!isAsked) return call.leave();
    // The relay notices late that nobody reads any more, and the question is to go now.
    void call.stop().then(
      () => call.leave(),
      () => call.leave(),
    );
  };
  const listener: CallListener = {
    onCall: () => undefined,
    onEvent(event) {
      if (event.type !== "approval") return;
      isAsked = event.state === "pending";
      forget(waiting);
      if (isAsked) useWaitingCalls.setState(({ calls }) => ({ calls: [...calls, waiting] }));
      onAsked(isAsked);
    },
    onTrouble: say,
  };
  signal?.addEventListener("abort", leave, { once: true });
  try {
    const answer = await call.run(input, listener);
    signal?.throwIfAborted();
    if (!answer) throw new Error("Nobody waits for the answer any more");
    return metadataOf(answer);
  } finally {
    signal?.removeEventListener("abort", leave);
    forget(waiting);
  }
}

interface WaitingCall {
  readonly device: string;
  readonly tool: string;
}

/** Calls of this page that wait for a person's yes. */
export const useWaitingCalls = create<{ readonly calls: readonly WaitingCall[] }>(() => ({ calls: [] }));

function forget(waiting: WaitingCall): void {
  useWaitingCalls.setState(({ calls }) => ({ calls: calls.filter((one) => one !== waiting) }));
}

function sayQuestion(isAsked: boolean): void {
  if (isAsked) say(waitsNotice("A call from this page"));
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
