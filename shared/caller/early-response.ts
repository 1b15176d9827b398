/** The guide's route during a long call: whitespace, which may precede JSON, keeps the connection alive. */
import type { Effect } from "../effects.ts";
import type { ErrorShape } from "../errors.ts";
import type { CallId } from "../ids.ts";
import { TIMES } from "../limits.ts";
import { errorAnswer } from "./error-answer.ts";
import type { Ending } from "./port.ts";
import type { ResponseBody } from "./response-body.ts";

interface EarlyResponseParts {
  /** Answers a call that ended quickly. */
  answer: (ending: Ending<Uint8Array>) => void;
  /** Begins the response of a longer one. */
  begin: (call: CallId, keepAlive: Uint8Array, effect: Effect) => ResponseBody;
}

const encoder = new TextEncoder();
const SPACE = encoder.encode(" ");

export class EarlyResponse {
  readonly #device: string;
  readonly #parts: EarlyResponseParts;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #body: ResponseBody | undefined;
  #ended = false;

  constructor(device: string, parts: EarlyResponseParts) {
    this.#device = device;
    this.#parts = parts;
  }

  /** The call is in flight; it is named once the response begins. */
  start(named: { readonly call: CallId }, effect: Effect): void {
    if (this.#ended) return;
    this.#timer = setTimeout(() => {
      this.#body = this.#parts.begin(named.call, SPACE, effect);
      this.#body.push(SPACE.slice());
    }, TIMES.streamKeepAlive);
  }

  end(ending: Ending<Uint8Array>): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#ended = true;
    if (!this.#body) return this.#parts.answer(ending);
    this.#body.push(ending.kind === "answer" ? ending.body : this.#refusal(ending.error, ending.call));
    this.#body.end();
  }

  #refusal(error: ErrorShape, call: CallId): Uint8Array {
    return encoder.encode(JSON.stringify(errorAnswer(error, { call, device: this.#device })));
  }
}
