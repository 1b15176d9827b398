/** One call of a tool, from asking to its end, through connections that break. */
import { ApiError, api, openEvents, part } from "./api.js";
import { recordAddress } from "./call-record.js";
import { eventsOf } from "./event-stream.js";

/** Pause before the relay is asked again what became of a call, in milliseconds. */
const AGAIN = 2000;
/** The session is over, may not read the call, or there is no record of it. */
const FINAL_STATUSES = [401, 403, 404];

/** A call of a device's tool. Nothing is sent before `run`. */
export class Call {
  #device;
  #tool;
  #leaving = new AbortController();
  /** Its name at the relay, once that is known. */
  #id;

  constructor(device, tool) {
    this.#device = device;
    this.#tool = tool;
  }

  /** It is made once, so a connection that breaks does not end it. */
  get hasEffect() {
    return this.#tool.effect !== "read";
  }

  /** Where its record is shown, once it is known; of what only reads there is none. */
  get url() {
    return this.hasEffect && this.#id ? recordAddress(this.#device, this.#id) : undefined;
  }

  get #path() {
    return `/v1/devices/${part(this.#device)}/calls/${part(this.#id)}`;
  }

  /**
   * Makes the call and resolves to its answer. Tells `onCall` when it is on its way, `onEvent` of `output`, `gap` and `progress`, and
   * `onTrouble` of what stands in the way. Throws ApiError; resolves to undefined after `leave`.
   */
  async run(input, { onCall, onEvent, onTrouble }) {
    const told = { onCall, onEvent };
    try {
      return (await this.#make(input, told)) ?? (await this.#ask(told, onTrouble));
    } catch (error) {
      if (this.#leaving.signal.aborted) return undefined;
      throw error;
    }
  }

  stop() {
    return api(`POST ${this.#path}/cancel`);
  }

  /** Reads no more. The relay then stops what only reads; the rest goes on. */
  leave() {
    this.#leaving.abort();
  }

  /** Undefined when the connection broke after the call was made. */
  async #make(input, told) {
    const line = `POST /v1/devices/${part(this.#device)}/tools/${part(this.#tool.name)}`;
    try {
      return await this.#follow(line, input, told);
    } catch (error) {
      if (error.status !== 0 || !this.hasEffect) throw error;
      throw new ApiError(0, {
        detail: "The relay didn't answer, so it is unclear whether the call was made.",
        hint: "Check what it changed before you run it again.",
      });
    }
  }

  /** The outcome of a call whose connection broke, once the relay can be reached. */
  async #ask(told, onTrouble) {
    if (!this.hasEffect) throw brokenRead(this.#tool.name);
    onTrouble("Connection lost. Asking the relay for the result …");
    for (;;) {
      try {
        const answer = await this.#follow(`GET ${this.#path}`, undefined, told);
        if (answer) return answer;
      } catch (error) {
        if (FINAL_STATUSES.includes(error.status) || this.#leaving.signal.aborted) throw error;
        onTrouble(`${error.message} Asking again for the result …`);
      }
      await this.#pause();
    }
  }

  /** Reads the events of a call. Undefined: the connection broke before its end. */
  async #follow(line, input, { onCall, onEvent }) {
    const response = await openEvents(line, input, this.#leaving.signal);
    this.#id = response.headers.get("Matrx-Call");
    onCall();
    for await (const { event, data } of eventsOf(response)) {
      if (event === "result") return data;
      if (event === "error") return { ...data, type: "error", output: data.detail ?? data.title };
      if (event !== "call") onEvent(data);
    }
    this.#leaving.signal.throwIfAborted();
    return undefined;
  }

  /** Ends early, with an error, when the reader leaves. */
  #pause() {
    const { signal } = this.#leaving;
    return new Promise((resolve, reject) => {
      setTimeout(resolve, AGAIN);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      if (signal.aborted) reject(signal.reason);
    });
  }
}

function brokenRead(tool) {
  return new ApiError(0, {
    detail: "Lost the connection before the answer arrived.",
    hint: `${tool} only reads, so nothing was changed: just run it again.`,
  });
}
