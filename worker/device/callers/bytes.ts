/** HTTP requests that carry bytes: a call that opens a stream, for the body of the response or of the request. */
import type { BytesAnswer, RestAnswer, SentBytes, WantedCall } from "@matrx/shared/caller/port.ts";
import { type ErrorShape, relayError } from "@matrx/shared/errors.ts";
import { errorShapeOf } from "../../problem.ts";
import { mayCall } from "../calls/gate.ts";
import type { DeviceContext } from "../context.ts";
import type { Lease, LeasedCaller } from "../leases.ts";
import { HttpConnection } from "../streams/http-connection.ts";
import { Turns } from "../streams/turns.ts";
import type { RestCalls } from "./rest.ts";

export class BytesCalls {
  readonly #context: DeviceContext;
  readonly #rest: RestCalls;
  readonly #turns = new Turns();

  constructor(context: DeviceContext, rest: RestCalls) {
    this.#context = context;
    this.#rest = rest;
  }

  /**
   * Waits for the answer as any REST call; the bytes are read afterwards. Refused before anything is sent if the device's
   * tool has no parameter `needs`. Throws MatrxError `RATE_LIMITED`.
   */
  call(wanted: WantedCall, by: LeasedCaller, now: number, needs?: string): Promise<BytesAnswer> {
    const error = needs === undefined ? undefined : this.#lackOf(needs, wanted.tool, by.lease);
    if (error) return Promise.resolve({ answer: { kind: "refused", call: wanted.call, error } });
    const connection = HttpConnection.reading(this.#context.streams, by);
    return this.#open(connection, wanted, by, now).then((answer) =>
      isSuccess(answer) ? { answer, bytes: connection.body() } : { answer },
    );
  }

  /** Undefined if the device announced the parameter, or the gate refuses the call anyway. */
  #lackOf(parameter: string, name: string, { scope }: Lease): ErrorShape | undefined {
    const { store } = this.#context;
    const tool = store.toolNamed(name);
    if (!tool || !mayCall(name, scope, store)) return undefined;
    if (Object.hasOwn(Object(tool.input_schema.properties), parameter)) return undefined;
    const hint = "Update the agent on the device";
    return relayError("INVALID_PARAMETERS", `${name} has no parameter ${parameter} there`, { hint }).shape();
  }

  /** The same for a tool that takes bytes: they are sent once the call is answered. */
  send(
    wanted: WantedCall,
    by: LeasedCaller,
    bytes: ReadableStream<Uint8Array> | undefined,
    now: number,
  ): Promise<SentBytes> {
    const connection = HttpConnection.sending(this.#context.streams, by);
    return this.#open(connection, wanted, by, now).then((answer) => this.#sent(connection, answer, bytes));
  }

  async #sent(
    connection: HttpConnection,
    answer: RestAnswer,
    bytes: ReadableStream<Uint8Array> | undefined,
  ): Promise<SentBytes> {
    if (!isSuccess(answer)) {
      void bytes?.cancel().catch(() => undefined);
      return { answer };
    }
    try {
      return { answer, end: { trailer: await connection.send(bytes) } };
    } catch (error) {
      return { answer, end: { error: errorShapeOf(error) } };
    }
  }

  /** The same for a tool that takes bytes and sends bytes at the same time. Of one grant, only some at once. */
  async exchange(
    wanted: WantedCall,
    by: LeasedCaller,
    bytes: ReadableStream<Uint8Array> | undefined,
  ): Promise<BytesAnswer> {
    const turn = await this.#turns.take(by.lease.scope.id);
    try {
      const connection = HttpConnection.both(this.#context.streams, by);
      const answer = await this.#open(connection, wanted, by, Date.now());
      if (isSuccess(answer)) return { answer, bytes: connection.exchange(bytes, turn) };
      void bytes?.cancel().catch(() => undefined);
      turn.end();
      return { answer };
    } catch (error) {
      turn.end();
      throw error;
    }
  }

  /** As in `attempt`, nothing that waits for the answer keeps the call's input. */
  #open(connection: HttpConnection, wanted: WantedCall, by: LeasedCaller, now: number): Promise<RestAnswer> {
    const { streams } = this.#context;
    const opens = { connection: connection.id, ...streams.open(connection, connection.opens, wanted.tool) };
    return this.#rest.call(wanted, by, now, opens).then((answer) => {
      if (!isSuccess(answer)) streams.refuse(connection.id, opens.stream, NOT_WANTED);
      return answer;
    });
  }
}

function isSuccess(answer: RestAnswer): boolean {
  return answer.kind === "answer" && answer.status === "success";
}

/** The call has failed, or goes on without its request. */
const NOT_WANTED = {
  code: "CANCELLED",
  message: "The request that wanted the stream is over",
  hop: "relay",
} as const;
