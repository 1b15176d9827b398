/** The events of a call for its reader: `call`, then `output`, `gap` and `progress`, and finally `result`, `error` or `pending`. */

import type * as z from "zod";
import type { approvalEventSchema } from "../api.ts";
import type { CallApproval } from "../approval.ts";
import type { Progress } from "../content.ts";
import { type ErrorShape, problemOf } from "../errors.ts";
import type { CallId, SessionId } from "../ids.ts";
import type { ResultHeader } from "../result-frame.ts";
import { textOf } from "../utf8.ts";
import { pendingCall } from "./call-response.ts";
import { answerProblem } from "./error-answer.ts";
import type { EventStream } from "./event-streams.ts";
import type { Answer } from "./to-caller.ts";

/** What is told first of a call. */
export interface BegunCall {
  call: CallId;
  /** Milliseconds since 1970. */
  deadline: number;
  session?: SessionId | undefined;
}

/** Who follows a call: over HTTP as a stream of events, or in the same process. */
export interface CallReader {
  /** Called when the reader leaves, or is disconnected, before the call's end. */
  onLeft: () => void;
  begin(begun: BegunCall): void;
  /** A person is asked about the call, or has allowed it. */
  asked(call: CallId, approval: CallApproval): void;
  /** Live output, as JSON. */
  output(frame: Uint8Array): void;
  progress(progress: Progress): void;
  /** The answer, as JSON; `body` must not be kept. */
  result(header: Pick<ResultHeader, "status" | "code">, body: Uint8Array): void;
  /** The reader does not wait any longer; the call goes on. */
  pending(call: CallId, approval: CallApproval | undefined): void;
  refuse(error: ErrorShape, call: CallId): void;
  /** No call was begun. */
  cut(): void;
}

export class CallEvents implements CallReader {
  readonly #stream: EventStream;
  readonly #device: string;
  /** Pieces of live output dropped since the last one sent. */
  #missed = 0;

  constructor(stream: EventStream, device: string) {
    this.#stream = stream;
    this.#device = device;
  }

  set onLeft(left: () => void) {
    this.#stream.onLeft = left;
  }

  cut(): void {
    this.#stream.cut();
  }

  begin({ call, deadline, session }: BegunCall): void {
    const until = new Date(deadline).toISOString();
    const facts = { call, device: this.#device, ...(session && { session }), deadline: until };
    this.#stream.send("call", json(facts), call);
  }

  asked(call: CallId, { id, state, expires, summary, edited }: CallApproval): void {
    const facts: z.infer<typeof approvalEventSchema> = {
      ...{ type: "approval", call, approval: id },
      ...{ state, expires, summary, edited },
    };
    this.#stream.send("approval", json(facts));
  }

  output(frame: Uint8Array): void {
    if (this.#stream.behind) {
      this.#missed++;
      return;
    }
    this.#sayGap();
    this.#stream.send("output", frame);
  }

  /** Says how far the call is, unless the reader is behind. */
  progress(progress: Progress): void {
    if (!this.#stream.behind) this.#stream.send("progress", json({ type: "progress", ...progress }));
  }

  result({ status, code }: Pick<ResultHeader, "status" | "code">, body: Uint8Array): void {
    this.#sayGap();
    if (status === "success") return this.#stream.end("result", body);
    const { error, extra } = answerProblem(code, JSON.parse(textOf(body)) as Answer);
    this.#stream.end("error", json({ ...problemOf(error), ...extra }));
  }

  pending(call: CallId, approval: CallApproval | undefined): void {
    this.#stream.end("pending", json(pendingCall(call, this.#device, approval)));
  }

  refuse(error: ErrorShape, call: CallId): void {
    this.#sayGap();
    this.#stream.end("error", json({ ...problemOf(error), call, device: this.#device }));
  }

  #sayGap(): void {
    if (this.#missed > 0) this.#stream.send("gap", json({ type: "gap", frames: this.#missed }));
    this.#missed = 0;
  }
}

function json(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
