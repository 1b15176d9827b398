/** The device's ends of streams: opened with the relay's calls, and served by tools once the call is answered. */
import type { ExecuteOpens } from "@matrx/shared/device-frames.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { StreamEnd } from "@matrx/shared/streams/endpoint.ts";
import {
  carriesData,
  decodeStreamFrame,
  encodeStreamFrame,
  errorPayload,
  type StreamAddress,
  type StreamFrame,
} from "@matrx/shared/streams/frame.ts";
import type { Logger } from "pino";
import type { ServedStream } from "../core/call-request.ts";
import type { Asker, StreamNeeds } from "../core/gate.ts";
import { toldError } from "../core/incident.ts";
import { BulkLink, type BulkLinkOptions } from "./bulk-link.ts";
import type { Link } from "./link.ts";
import type { PacedSocket } from "./paced-socket.ts";

/** A stream that a call opened, and who serves it. */
export interface OpenedStream extends Asker, ServedStream {
  readonly opens: ExecuteOpens;
  readonly call: string;
  readonly tool: string;
}

export interface StreamsOptions {
  readonly bulk: BulkLinkOptions;
  /** Why what a call of this tool began, and needs, may not go on: the policy may have changed. */
  readonly refusalNow: (tool: string, asker: Asker, needs: StreamNeeds) => ErrorShape | undefined;
  readonly log: Logger;
}

interface Served {
  readonly end: StreamEnd;
  readonly stream: OpenedStream;
  readonly isBulk: boolean;
}

/** Data in a frame, and credit that a caller has at a time, in bytes. On the first connection both delay every call. */
const FIRST = { frameBytes: LIMITS.streamSharedBytes, window: 128 * 1024 } as const;
const SECOND = { frameBytes: LIMITS.streamDataBytes, window: 1024 * 1024 } as const;
/** Frames of a caller that were sent before it had any credit: more are a mistake. */
const EARLY_FRAMES = 64;
/** How often open streams are checked for readers that have stalled, in milliseconds. */
const LOOK_EVERY = 1000;

export class Streams {
  readonly #options: StreamsOptions;
  readonly #open = new Map<string, Served>();
  /** What came for streams that still wait for their connection: an end or a reset needs no credit. */
  readonly #early = new Map<string, StreamFrame[]>();
  #link: Link | undefined;
  #bulk: BulkLink | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: StreamsOptions) {
    this.#options = options;
  }

  attach(link: Link): void {
    this.#link = link;
    this.#bulk = new BulkLink(this.#options.bulk, {
      onFrame: (frame) => this.receive(frame),
      onLost: () => {
        // The relay may not know yet which streams are on that connection.
        for (const { stream, isBulk } of this.#open.values()) if (isBulk) this.refuse(stream.opens, LOST);
        this.#lose(({ isBulk }) => isBulk);
      },
    });
  }

  /** The link is gone, and every stream with it. */
  detach(link: Link): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    this.#bulk?.close();
    this.#lose(() => true);
  }

  /** Handles a frame from either connection. One that can't be read is ignored: the relay checks them. */
  receive(data: Uint8Array): void {
    let frame: StreamFrame;
    try {
      frame = decodeStreamFrame(data);
    } catch (err) {
      this.#options.log.warn({ err }, "a binary frame from the relay was not understood");
      return;
    }
    const key = keyOf(frame);
    const served = this.#open.get(key);
    const early = this.#early.get(key);
    if (served) served.end.receive(frame);
    else if (early && early.length < EARLY_FRAMES) early.push(frame);
    else if (carriesData(frame.kind)) this.refuse(frame, GONE);
  }

  /** Serves a stream to its end; never rejects. */
  async serve(stream: OpenedStream): Promise<void> {
    const link = this.#link;
    const key = keyOf(stream.opens);
    if (this.#open.has(key) || this.#early.has(key)) return this.refuse(stream.opens, GONE);
    const early: StreamFrame[] = [];
    this.#early.set(key, early);
    const bulk = stream.interactive ? undefined : await this.#openBulk();
    this.#early.delete(key);
    if (link && this.#link === link) {
      const end = endOf(stream, bulk?.socket ?? link.streamSocket, bulk !== undefined);
      this.#open.set(key, { end, stream, isBulk: bulk !== undefined });
      for (const frame of early) end.receive(frame);
      // It may have changed while the connection was opened.
      const refusal = this.#refusalOf(stream);
      if (refusal) end.reset(refusal);
      if (!end.signal.aborted) await this.#serve(stream, end);
      this.#open.delete(key);
      this.#rest();
    }
    bulk?.release();
  }

  /** Tells the caller that its stream is not served. */
  refuse({ connection, stream }: StreamAddress, error: ErrorShape): void {
    const frame = encodeStreamFrame({ connection, stream, bulk: false }, "reset", errorPayload(error));
    this.#link?.streamSocket.send(frame);
  }

  /** Ends streams whose grant has ended, or is paused. */
  endFor(isConcerned: (grant: GrantScope) => boolean, error: ErrorShape): void {
    for (const { end, stream } of [...this.#open.values()]) if (isConcerned(stream.grant)) end.reset(error);
  }

  /** The device's policy has changed: streams that it does not allow any more end. */
  rightsChanged(): void {
    for (const { end, stream } of [...this.#open.values()]) {
      const refusal = this.#refusalOf(stream);
      if (refusal) end.reset(refusal);
    }
  }

  #refusalOf({ tool, grant, relayPolicy, needs }: OpenedStream): ErrorShape | undefined {
    return this.#options.refusalNow(tool, { grant, relayPolicy }, needs);
  }

  async #serve({ call, tool, serve }: OpenedStream, end: StreamEnd): Promise<void> {
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY).unref();
    try {
      await end.end(await serve(end));
    } catch (error) {
      end.reset(toldError(error, this.#options.log, "a stream failed", { call, tool }));
    }
  }

  /** Without streams there is nothing to look at. */
  #rest(): void {
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #openBulk(): Promise<BulkLink | undefined> {
    const bulk = this.#bulk;
    return (await bulk?.open()) ? bulk : undefined;
  }

  #lose(isLost: (served: Served) => boolean): void {
    for (const served of [...this.#open.values()]) if (isLost(served)) served.end.lose(LOST);
  }

  #look(): void {
    const latest = performance.now() - TIMES.streamWaits;
    for (const { end } of [...this.#open.values()])
      if ((end.waitsSince ?? Number.POSITIVE_INFINITY) < latest) end.reset(NOT_READ);
  }
}

function endOf({ opens }: OpenedStream, socket: PacedSocket, bulk: boolean): StreamEnd {
  return new StreamEnd({
    ...{ connection: opens.connection, stream: opens.stream, side: "device", hop: "agent", bulk },
    send: (frame) => socket.send(frame),
    ready: () => socket.ready(),
    ...{ ...(bulk ? SECOND : FIRST), credit: opens.credit },
  });
}

function keyOf({ connection, stream }: StreamAddress): string {
  return `${connection}:${stream}`;
}

const GONE: ErrorShape = {
  code: "NOT_FOUND",
  message: "The device has no such stream",
  hint: "Open it again with a call",
  hop: "agent",
};

const LOST: ErrorShape = {
  code: "UNAVAILABLE",
  message: "The connection to the relay was lost",
  hint: "Open the stream again where it broke off",
  hop: "agent",
};

const NOT_READ: ErrorShape = {
  code: "TIMEOUT",
  message: "Nobody has read the stream for ten minutes",
  hint: "Open it again where it broke off",
  hop: "agent",
};
