/** Tools of a machine that pages call: one call, and its end. Components take `useTool`, which leaves with them. */
import { create } from "zustand";
import { ApiError } from "../relay/api-error.ts";
import type { Tool } from "../relay/call.ts";
import type { CallAnswer } from "../relay/call-events.ts";
import { waitsNotice } from "../ui/approval-words.ts";
import { say, sayProblem } from "../ui/notices.ts";
import { newCall, type ToolCall } from "./tool-call.ts";

export type Input = Record<string, unknown>;

/** What a tool says besides its text; a machine may say anything. */
export type Metadata = Readonly<Record<string, unknown>>;

export interface Success {
  readonly output: string;
  readonly metadata: Metadata;
  readonly image: CallAnswer["image"];
}

export interface ToolCallOptions {
  /** Aborted to hear no more of the call: what only reads is stopped, and its question withdrawn; the rest goes on. */
  readonly signal?: AbortSignal | undefined;
  /** Aborted to stop the call, whatever it does: one that changes something answers once it has ended. */
  readonly stop?: AbortSignal | undefined;
  /** Told when the call begins to wait for a person's yes, and when it goes on; otherwise a notice says that it waits. */
  readonly onAsked?: ((isAsked: boolean) => void) | undefined;
  /** Told what stands in the way; otherwise a notice says so. */
  readonly onTrouble?: ((text: string) => void) | undefined;
}

/**
 * Calls a tool and resolves to what it answers. Throws ApiError: also what the tool itself refused; the signal's reason. One
 * with an effect is made once, whatever connection breaks meanwhile.
 */
export async function callTool(
  device: string,
  tool: Tool,
  input: Input,
  { signal, stop, onAsked = sayQuestion, onTrouble = say }: ToolCallOptions = {},
): Promise<Success> {
  signal?.throwIfAborted();
  const call = newCall(device, tool);
  const waiting: WaitingCall = { device, tool: tool.name };
  let isAsked = false;
  const leave = () => {
    if (!isAsked || tool.effect !== "read") return call.leave();
    // The relay notices late that nobody reads any more, and the question is to go now.
    void call.stop().then(
      () => call.leave(),
      () => call.leave(),
    );
  };
  const end = () => stopped(call, tool);
  signal?.addEventListener("abort", leave, { once: true });
  stop?.addEventListener("abort", end, { once: true });
  try {
    const answer = await call.run(input, {
      onCall: () => undefined,
      onEvent(event) {
        if (event.type !== "approval") return;
        isAsked = event.state === "pending";
        forget(waiting);
        if (isAsked) useWaitingCalls.setState(({ calls }) => ({ calls: [...calls, waiting] }));
        onAsked(isAsked);
      },
      onTrouble,
    });
    signal?.throwIfAborted();
    if (!answer) throw new Error("Nobody waits for the answer any more");
    return successOf(answer);
  } finally {
    signal?.removeEventListener("abort", leave);
    stop?.removeEventListener("abort", end);
    forget(waiting);
  }
}

/** What only reads is stopped when nobody waits for it; the rest has to be told. */
function stopped(call: ToolCall, { effect }: Tool): void {
  if (effect === "read") return call.leave();
  void call.stop().catch((error: unknown) => {
    call.leave();
    sayProblem(error);
  });
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

function successOf({ type, output, code, hint, hop, image, metadata = {} }: CallAnswer): Success {
  if (type === "success") return { output, metadata, image };
  throw new ApiError(422, {
    ...metadata,
    detail: output,
    ...(code !== undefined && { code }),
    ...(hint !== undefined && { hint }),
    ...(hop !== undefined && { hop }),
  });
}
