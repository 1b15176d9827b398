/** The events of a call for its reader: `call`, then `output` and `gap`, and finally `result` or `error`. */

import type * as z from "zod";
import type { approvalEventSchema } from "../api.ts";
import type { CallApproval } from "../approval.ts";
import { type ErrorShape, problemOf } from "../errors.ts";
import type { CallId, SessionId } from "../ids.ts";
import type { ResultHeader } from "../result-frame.ts";
import { textOf } from "../utf8.ts";
import type { EventStream } from "./event-streams.ts";
import { type Answer, answerProblem } from "./to-caller.ts";

/** The first event's data. */
interface BegunCall {
  call: CallId;
  /** Milliseconds since 1970. */
  deadline: number;
  session?: SessionId | undefined;
}

export class CallEvents {
  readonly #stream: EventStream;
  readonly #device: string;
  /** Pieces of live output dropped since the last one sent. */
  #missed = 0;

  constructor(stream: EventStream, device: string) {
    this.#stream = stream;
    this.#device = device;
  }

  begin({ call, deadline, session }: BegunCall): void {
    const until = new Date(deadline).toISOString();
    const facts = { call, device: this.#device, ...(session && { session }), deadline: until };
    this.#stream.send("call", json(facts), call);
  }

  /** A person is asked about the call, or has allowed it. */
  asked(call: CallId, { id, state, expires, summary, edited }: CallApproval): void {
    const facts: z.infer<typeof approvalEventSchema> = {
      ...{ type: "approval", call, approval: id },
      ...{ state, expires, summary, edited },
    };
    this.#stream.send("approval", json(facts));
  }

  /** Sends a frame of live output, as JSON. */
  output(frame: Uint8Array): void {
    if (this.#stream.behind) {
      this.#missed++;
      return;
    }
    this.#sayGap();
    this.#stream.send("output", frame);
  }

  /** Sends the answer, as JSON. */
  result({ status, code }: Pick<ResultHeader, "status" | "code">, body: Uint8Array): void {
    this.#sayGap();
    if (status === "success") return this.#stream.end("result", body);
    const { error, extra } = answerProblem(code, JSON.parse(textOf(body)) as Answer);
    this.#stream.end("error", json({ ...problemOf(error), ...extra }));
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
