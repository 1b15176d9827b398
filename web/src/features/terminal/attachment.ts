/** A viewer's hold on one terminal: shows what it writes, types into it, and comes back where it was after a lost connection. */
import type { StreamEnd } from "@matrx/shared/streams/endpoint.ts";
import { type Away, keepStream } from "../../calls/kept-stream.ts";
import type { DeviceLink } from "../../relay/streams/device-link.ts";
import { type Size, terminalMessage, type Viewer } from "./messages.ts";

/** Where it is shown. */
export interface Screen {
  /** The terminal's size; `isFresh`: a snapshot follows, in the place of what is shown. */
  begin(size: Size, isFresh: boolean): void;
  /** What came so far stands on the screen; the viewer's own size may now be told. */
  ready(): void;
  /** Resolves when there is room for more. */
  write(bytes: Uint8Array): Promise<void>;
  /** Somebody gave the terminal another size. */
  resized(size: Size): void;
  /** So many bytes of output are missing from here on. */
  missed(bytes: number): void;
}

export type AttachmentState =
  | Away
  | { readonly kind: "live" }
  | { readonly kind: "ended"; readonly code: number | undefined; readonly signal: string | undefined };

export interface AttachmentOptions {
  readonly link: DeviceLink;
  readonly terminal: string;
  /** Whether it may type. */
  readonly write: boolean;
  readonly screen: Screen;
  readonly onState: (state: AttachmentState) => void;
  readonly onViewers: (viewers: readonly Viewer[]) => void;
  /** Keys are dropped, for too many wait. */
  readonly onDropped: () => void;
  /** Keys that waited will not be sent. */
  readonly onUnsent: () => void;
  /** The connection was lost after keys that nothing followed: they may not have arrived. */
  readonly onUnsure: () => void;
}

const NOTHING = new Uint8Array();
const CREDIT = 256 * 1024;
/** Keys that wait while there is no connection, in bytes: more are dropped. */
const KEYS_MAX = 4 * 1024;
/** Of a paste that is sent more slowly than it comes: more is dropped, in bytes. */
const PASTE_MAX = 4 * 1024 * 1024;

export class Attachment {
  readonly #options: AttachmentOptions;
  readonly #left = new AbortController();
  #stream: StreamEnd | undefined;
  #keys: Uint8Array[] = [];
  #keyBytes = 0;
  #isSending = false;
  /** Keys were sent, and nothing was written since. */
  #isUnanswered = false;
  /** The next byte of the terminal's output; unknown before it was attached. */
  #sequence: number | undefined;

  /** Begins at once, and goes on until the terminal has ended, or `leave`. */
  constructor(options: AttachmentOptions) {
    this.#options = options;
    void this.#run();
  }

  /** Sends what is typed, now or when the connection is back. */
  type(bytes: Uint8Array): void {
    if (!this.#options.write || this.#left.signal.aborted) return;
    if (this.#keyBytes + bytes.length > (this.#stream ? PASTE_MAX : KEYS_MAX))
      return this.#options.onDropped();
    this.#keys.push(bytes);
    this.#keyBytes += bytes.length;
    void this.#sendKeys();
  }

  /** Tells the terminal its new size. */
  resize({ cols, rows }: Size): void {
    if (this.#options.write) this.#stream?.send({ type: "resize", cols, rows }).catch(() => undefined);
  }

  /** The terminal stays as it is. */
  leave(): void {
    this.#left.abort();
    this.#dropKeys();
  }

  async #run(): Promise<void> {
    const { link, terminal, write, onState } = this.#options;
    const end = await keepStream({
      ...{ link, tool: "TerminalAttach", credit: CREDIT, signal: this.#left.signal },
      input: () => ({
        ...{ terminal, write },
        ...(this.#sequence !== undefined && { from_sequence: this.#sequence }),
      }),
      onAway: (away) => {
        if (away.kind === "failed") this.#dropKeys();
        onState(away);
      },
      take: ({ stream }) => this.#attached(stream),
    });
    if (!end) return;
    this.#dropKeys();
    onState(end);
  }

  /** Resolves with the terminal's end. Throws MatrxError if the stream breaks off. */
  async #attached(stream: StreamEnd): Promise<AttachmentState> {
    try {
      return await this.#show(stream);
    } catch (error) {
      if (this.#isUnanswered && !this.#left.signal.aborted) this.#options.onUnsure();
      throw error;
    } finally {
      this.#stream = undefined;
      this.#isUnanswered = false;
    }
  }

  async #show(stream: StreamEnd): Promise<AttachmentState> {
    const { screen, onState, onViewers } = this.#options;
    let drawn = 0;
    let isReady = false;
    const readyAfter = () => {
      if (drawn > 0 || isReady) return;
      isReady = true;
      this.#stream = stream;
      onState({ kind: "live" });
      screen.ready();
      void this.#sendKeys();
    };
    for await (const piece of stream.incoming()) {
      if (piece.kind === "data") {
        this.#isUnanswered = false;
        await screen.write(piece.bytes);
        const ofSnapshot = Math.min(drawn, piece.bytes.length);
        drawn -= ofSnapshot;
        this.#sequence = (this.#sequence ?? 0) + piece.bytes.length - ofSnapshot;
        readyAfter();
        continue;
      }
      const message = terminalMessage(piece.message);
      if (message?.type === "attached") {
        this.#sequence = message.sequence;
        drawn = message.snapshot_bytes;
        screen.begin(message, message.snapshot);
        readyAfter();
      } else if (message?.type === "gap") {
        screen.missed(message.to - message.from);
        this.#sequence = message.to;
      } else if (message?.type === "resized") screen.resized(message);
      else if (message?.type === "viewers") onViewers(message.viewers);
      // However many come at once, the page goes on to answer in between.
      await screen.write(NOTHING);
    }
    const { exit_code: code, signal } = stream.trailer ?? {};
    return {
      ...{ kind: "ended", code: typeof code === "number" ? code : undefined },
      signal: typeof signal === "string" ? signal : undefined,
    };
  }

  #dropKeys(): void {
    if (this.#keys.length === 0) return;
    this.#keys = [];
    this.#keyBytes = 0;
    this.#options.onUnsent();
  }

  /** One at a time. What goes wrong with the stream, its reader sees. */
  async #sendKeys(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      for (let stream = this.#stream; stream && this.#keys.length > 0; stream = this.#stream) {
        const bytes = joined(this.#keys, this.#keyBytes);
        this.#keys = [];
        this.#keyBytes = 0;
        this.#isUnanswered = true;
        await stream.write(bytes);
      }
    } catch {
      // Whether they were typed is not known: typing them again could run something twice.
    } finally {
      this.#isSending = false;
    }
  }
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
