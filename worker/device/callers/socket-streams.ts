/** The streams of one caller's socket. */
import type { StreamPort } from "@matrx/shared/caller/protocol.ts";
import type { ExecuteOpens } from "@matrx/shared/device-frames.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import { makeConnectionId } from "@matrx/shared/ids.ts";
import type { ConnectionId } from "@matrx/shared/streams/frame.ts";
import type { Opens, WantedOpens } from "@matrx/shared/streams/opens.ts";
import type { GuestSession } from "../../auth/caller.ts";
import { sendAndFree } from "../../socket.ts";
import type { Lease } from "../leases.ts";
import type { CallerConnection, KeptStream } from "../streams/stream.ts";
import type { Streams } from "../streams/streams.ts";

/** What survives hibernation. */
export interface KeptStreams {
  readonly connection: ConnectionId;
  readonly open: KeptStream[];
}

/** The session whose streams they are. */
interface Session {
  readonly ws: WebSocket;
  readonly lease: Lease;
  readonly guest: GuestSession | undefined;
  readonly isOpen: boolean;
  readonly queued: number;
  save(): void;
}

export class SocketStreams implements CallerConnection, StreamPort {
  readonly id: ConnectionId;
  readonly #session: Session;
  readonly #streams: Streams;

  constructor(session: Session, streams: Streams, kept: KeptStreams | undefined) {
    this.#session = session;
    this.#streams = streams;
    this.id = kept?.connection ?? makeConnectionId();
    if (kept) streams.restore(this, kept.open);
  }

  get lease(): Lease {
    return this.#session.lease;
  }

  get visit(): string | undefined {
    return this.#session.guest?.grant;
  }

  get queued(): number {
    return this.#session.queued;
  }

  /** Undefined without open streams. */
  get kept(): KeptStreams | undefined {
    const open = this.#streams.keptOf(this.id);
    return open.length > 0 ? { connection: this.id, open } : undefined;
  }

  /** As `Streams.open`; returns what the agent is told. */
  open(opens: WantedOpens, tool: string): ExecuteOpens {
    return { connection: this.id, ...this.#streams.open(this, opens, tool) };
  }

  /** The call that was to open this stream did not. */
  notOpened({ stream }: Opens): void {
    this.#streams.notOpened(this.id, stream);
  }

  /** The call was answered before, so that its stream will never be opened. */
  answeredBefore({ stream }: Opens): void {
    this.#streams.refuse(this.id, stream, ANSWERED_BEFORE);
  }

  frame(frame: Uint8Array<ArrayBuffer>): void {
    this.#streams.fromCaller(this, frame);
  }

  refuseFrame(frame: Uint8Array<ArrayBuffer>, why: ErrorShape): void {
    this.#streams.refuseFrame(this, frame, why);
  }

  /** The socket closed. */
  closed(): void {
    this.#streams.callerClosed(this.id);
  }

  deliver(frame: Uint8Array<ArrayBuffer>): void {
    sendAndFree(this.#session.ws, frame);
  }

  changed(): void {
    if (this.#session.isOpen) this.#session.save();
  }
}

const ANSWERED_BEFORE: ErrorShape = {
  code: "CONFLICT",
  message: "The call was answered before, so it opens no stream",
  hint: "Make a new call",
  hop: "relay",
};
