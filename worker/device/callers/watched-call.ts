/** A call that is followed in the device's own object: nothing of it is written as events, to be read again here. */
import type { CallApproval } from "@matrx/shared/approval.ts";
import type { BegunCall, CallReader } from "@matrx/shared/caller/call-events.ts";
import type { GrantReader } from "@matrx/shared/caller/event-streams.ts";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import type { Progress } from "@matrx/shared/content.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import type { CallId } from "@matrx/shared/ids.ts";
import {
  brokenOff,
  type CallEnd,
  type CallWatcher,
  type FollowedCall,
  type OutputPiece,
} from "@matrx/shared/mcp/device.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import { textOf } from "@matrx/shared/utf8.ts";

export class WatchedCall implements CallReader, GrantReader, FollowedCall {
  call: CallId;
  readonly #watcher: CallWatcher;
  readonly #ended = Promise.withResolvers<CallEnd>();
  /** Nothing more comes: the call has ended, or its reader has left. */
  #isOver = false;
  onLeft: () => void = () => undefined;
  /** Called once nobody follows the call any more. */
  onOver: () => void = () => undefined;

  constructor(call: CallId, watcher: CallWatcher) {
    this.call = call;
    this.#watcher = watcher;
  }

  get end(): Promise<CallEnd> {
    return this.#ended.promise;
  }

  leave(): void {
    if (this.#isOver) return;
    this.#over(brokenOff(this.call));
    this.onLeft();
  }

  endEarly(why: ErrorShape): void {
    if (this.#isOver) return;
    this.refuse(why);
    this.onLeft();
  }

  begin({ call }: BegunCall): void {
    this.call = call;
  }

  /** Whoever is told the call's name at once leaves when it has been told. */
  asked(call: CallId, approval: CallApproval): void {
    if (!this.#isOver && this.#watcher.asked(approval, call))
      this.#ended.resolve({ kind: "pending", call, approval });
  }

  output(frame: Uint8Array): void {
    if (!this.#isOver) this.#watcher.output(JSON.parse(textOf(frame)) as OutputPiece);
  }

  progress(progress: Progress): void {
    if (!this.#isOver) this.#watcher.progress(progress);
  }

  result({ status, code }: Pick<ResultHeader, "status" | "code">, body: Uint8Array): void {
    const answer = JSON.parse(textOf(body)) as Answer;
    if (status === "success") return this.#over({ kind: "answer", answer });
    const { output, hint, hop, metadata } = answer;
    const error = { message: output, hint, hop: hop ?? "device", details: metadata } as const;
    this.#over({ kind: "refused", error: { ...error, code: code ?? "TOOL_EXECUTION_FAILED" } });
  }

  pending(call: CallId, approval: CallApproval | undefined): void {
    this.#over({ kind: "pending", call, approval });
  }

  refuse({ code, message, hint, hop }: ErrorShape): void {
    this.#over({ kind: "refused", error: { code, message, hint, hop } });
  }

  cut(): void {
    this.#over(brokenOff(this.call));
  }

  #over(end: CallEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ended.resolve(end);
    this.onOver();
  }
}
