/** A WebSocket as a connection needs it: each platform has its own. */
import type { MatrxError } from "@matrx/shared/errors.ts";

/** Tells what comes. */
export interface SocketListener {
  readonly onOpen: () => void;
  readonly onMessage: (data: string | Uint8Array<ArrayBuffer>) => void;
  /** It was never open: the other end said why. */
  readonly onRefused: (error: MatrxError) => void;
  /** Nothing more comes; `why` in words. Called once. */
  readonly onClose: (why: string) => void;
}

export interface Socket {
  /** Sends, or drops it if the socket is not open. What was sent must not be changed afterwards. */
  send(data: string | Uint8Array<ArrayBuffer>): void;
  /** Resolves when it takes one more frame of a stream; undefined: it does now. */
  ready(): Promise<void> | undefined;
  /** Bytes of streams that have left this program. */
  leftBytes(): number;
  /** Ends it in order, and soon even if the other end does not answer. */
  close(): void;
  /** Ends it at once. */
  cut(): void;
}

/** Opens a socket to the device; `session`: one that it continues. Throws MatrxError. */
export type Dial = (session: string | undefined, listener: SocketListener) => Socket | Promise<Socket>;
