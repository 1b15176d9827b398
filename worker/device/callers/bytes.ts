/** HTTP requests for bytes: a call that opens a stream, whose bytes become the response's body. */
import type { BytesAnswer, RestCall } from "@matrx/shared/caller/port.ts";
import type { GuestSession } from "../../auth/caller.ts";
import type { DeviceContext } from "../context.ts";
import type { Lease } from "../leases.ts";
import { HttpConnection } from "../streams/http-connection.ts";
import type { RestCalls } from "./rest.ts";

export class BytesCalls {
  readonly #context: DeviceContext;
  readonly #rest: RestCalls;

  constructor(context: DeviceContext, rest: RestCalls) {
    this.#context = context;
    this.#rest = rest;
  }

  /** Waits for the answer as any REST call; the bytes are read afterwards. Throws MatrxError `RATE_LIMITED`. */
  async call(
    wanted: RestCall & { lease: Lease; guest: GuestSession | undefined },
    now: number,
  ): Promise<BytesAnswer> {
    const { streams } = this.#context;
    const connection = new HttpConnection(streams, wanted.lease, wanted.guest);
    const { opens } = connection;
    streams.open(connection, opens, wanted.tool);
    const answer = await this.#rest.call({ ...wanted, opens }, now);
    if (answer.kind === "answer" && answer.status === "success") return { answer, bytes: connection.body() };
    streams.refuse(connection.id, opens.stream, NO_READER);
    return { answer };
  }
}

/** The call has failed, or goes on without its reader. */
const NO_READER = {
  code: "CANCELLED",
  message: "Nobody waits for the bytes any more",
  hop: "relay",
} as const;
