/** One connection to the relay, from dialling to its end. The caller decides whether to reconnect. */
import type { IncomingMessage } from "node:http";
import type { Progress } from "@matrx/shared/content.ts";
import { type ToDevice, type ToolProgress, toDeviceSchema } from "@matrx/shared/device-frames.ts";
import type { MatrxError } from "@matrx/shared/errors.ts";
import { HEARTBEAT, Heartbeat, type HeartbeatTimes } from "@matrx/shared/heartbeat.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { encodeOutputFrame, encodeResultFrame } from "@matrx/shared/result-frame.ts";
import { NONCE_HEADER } from "@matrx/shared/tokens.ts";
import type { Manifest } from "@matrx/shared/tool.ts";
import type { Logger } from "pino";
import { WebSocket } from "ws";
import type { Outcome } from "../core/answers.ts";
import type { OutputPiece } from "../core/live-output.ts";
import { openWebSocket } from "../network/web-socket.ts";
import {
  finalCloseError,
  isUnknownDevice,
  keyRefusedError,
  lostBecause,
  type UpgradeAnswer,
  upgradeRefused,
} from "./close-reasons.ts";
import { PacedSocket } from "./paced-socket.ts";

/** Client states of the device document. */
export type ClientState =
  | "CONNECTING"
  | "CONNECTED"
  | "REGISTERING"
  | "REGISTERED"
  | "DISCONNECTED"
  | "RECONNECTING";

/**
 * How a connection ended. `lost`: reconnect, but seldom if the relay does not know the device. `refused`: do not reconnect.
 * `stopped`: we ended it.
 */
export type LinkEnd =
  | { kind: "lost"; why: string; registeredMs: number }
  | { kind: "unknown"; why: string }
  | { kind: "refused"; error: MatrxError }
  | { kind: "stopped" };

export interface LinkOptions {
  readonly url: string;
  /** What the device currently announces. */
  readonly manifest: () => Manifest;
  /** Sent with the upgrade: reserves this connection's place if strangers crowd in. */
  readonly credential: string;
  /** The `device_register` frame for this connection's nonce. */
  readonly register: (nonce: string) => Promise<object>;
  readonly onState: (state: ClientState) => void;
  /** `ledger`: the relay's name for its records of this device. */
  readonly onRegistered: (link: Link, ledger: string | undefined) => void;
  readonly onFrame: (frame: ToDevice, link: Link) => void;
  /** A binary frame: those from the relay belong to streams. */
  readonly onStreamFrame: (frame: Uint8Array) => void;
  readonly onGone: (link: Link) => void;
  readonly log: Logger;
  readonly heartbeat?: HeartbeatTimes | undefined;
  readonly handshakeMs?: number | undefined;
}

/** Beyond this many bytes queued on the socket, live output is dropped: every answer waits behind them. */
const OUTPUT_QUEUE_BYTES = 256 * 1024;

export class Link {
  readonly #options: LinkOptions;
  readonly #socket: WebSocket;
  /** For streams that share this connection with calls. */
  readonly streamSocket: PacedSocket;
  readonly #end = Promise.withResolvers<LinkEnd>();
  #heartbeat: Heartbeat | undefined;
  /** Runs out if the next step to a registered link takes too long. */
  #timer: NodeJS.Timeout | undefined;
  #sentBytes = 0;
  #registerSent = false;
  #registeredAt: number | undefined;
  #creditAbove: number | undefined;
  #wantsStatus = false;
  #wantsProgress = false;
  #refusal: MatrxError | undefined;
  #unknown = false;
  #why: string | undefined;
  #stopping = false;

  /** Dials, registers and serves until the connection ends. */
  static run(options: LinkOptions, signal: AbortSignal): Promise<LinkEnd> {
    if (signal.aborted) return Promise.resolve({ kind: "stopped" });
    const link = new Link(options);
    const stop = () => link.#stop();
    signal.addEventListener("abort", stop, { once: true });
    return link.#end.promise.finally(() => signal.removeEventListener("abort", stop));
  }

  private constructor(options: LinkOptions) {
    this.#options = options;
    this.#socket = openWebSocket(options.url, [], {
      headers: { Authorization: `Bearer ${options.credential}` },
      handshakeTimeout: options.handshakeMs ?? TIMES.registerWithin,
      maxPayload: LIMITS.platformFrameBytes,
    });
    this.streamSocket = new PacedSocket(this.#socket);
    // `handshakeTimeout` only covers silence, and a server may send its response in drips.
    this.#await("The relay did not answer the upgrade in time");
    this.#listen();
  }

  sendText(frame: object): void {
    this.#send(JSON.stringify(frame));
  }

  /** Sends an outcome; resolves when this process has sent it, or the connection is gone. */
  sendOutcome({ header, body }: Outcome): Promise<void> {
    const frame = encodeResultFrame(header, body);
    return new Promise((resolve) => this.#send(frame, () => resolve()));
  }

  /** Sends live output, or drops it while the queue is full. A REST caller has no id. */
  sendOutput(call: string, id: string | undefined, piece: OutputPiece): void {
    if (this.#socket.bufferedAmount > OUTPUT_QUEUE_BYTES) return;
    const body = Buffer.from(JSON.stringify({ id, type: "output", ...piece }));
    this.#send(encodeOutputFrame({ call }, body));
  }

  /** Says how far a call is, unless the queue is full or the relay does not know `tool_progress`. */
  sendProgress(call: string, progress: Progress): void {
    if (!this.#wantsProgress || this.#socket.bufferedAmount > OUTPUT_QUEUE_BYTES) return;
    this.sendText({ type: "tool_progress", tool_call_id: call, ...progress } satisfies ToolProgress);
  }

  /** Larger answers need the relay's credit. Undefined if the relay does not support that. */
  get creditAbove(): number | undefined {
    return this.#creditAbove;
  }

  /** Whether the relay knows `device_status`. */
  get wantsStatus(): boolean {
    return this.#wantsStatus;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  #send(data: string | Uint8Array, done: () => void = ignoreFailure): void {
    this.#sentBytes += Buffer.byteLength(data);
    this.#socket.send(data, done);
  }

  /** Drops the connection unless the next step comes in time. */
  #await(why: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#drop(why), this.#options.handshakeMs ?? TIMES.registerWithin);
  }

  #listen(): void {
    const { onState } = this.#options;
    const socket = this.#socket;
    let nonce: string | undefined;
    socket.on("upgrade", (response) => {
      nonce = response.headers[NONCE_HEADER.toLowerCase()]?.toString();
    });
    socket.on("open", () => {
      onState("CONNECTED");
      this.#await("The relay did not answer the registration in time");
      if (nonce) void this.#register(nonce);
      else this.#drop(`The answer has no ${NONCE_HEADER} header; is this a Matrx relay?`);
    });
    socket.on("message", (data, isBinary) => this.#receive(data as Buffer, isBinary));
    socket.on("unexpected-response", (_request, response) => void this.#refused(response));
    socket.on("error", (error) => {
      this.#why ??= lostBecause(error);
    });
    socket.on("close", (code, reason) => this.#closed(code, reason.toString()));
  }

  async #register(nonce: string): Promise<void> {
    const { onState, register, log } = this.#options;
    onState("REGISTERING");
    try {
      this.sendText(await register(nonce));
      this.#registerSent = true;
    } catch (err) {
      log.error({ err }, "the registration could not be created");
      this.#drop("The registration could not be created");
    }
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (isBinary) return this.#options.onStreamFrame(data);
    const text = data.toString();
    if (text === "pong") {
      this.#heartbeat?.answered();
      return;
    }
    const frame = this.#parse(text);
    if (!frame) return;
    if (frame.type === "device_registered") this.#registered(frame);
    else if (frame.type === "error") this.#noteError(frame);
    else if (this.#registeredAt !== undefined) this.#obey(frame);
  }

  /** Errors in a handler are logged, and the link continues. */
  #obey(frame: ToDevice): void {
    try {
      this.#options.onFrame(frame, this);
    } catch (err) {
      this.#options.log.error({ err, type: frame.type }, "a frame from the relay could not be followed");
    }
  }

  /** Unknown and malformed frames are ignored: a newer relay may send more than we know. */
  #parse(text: string): ToDevice | undefined {
    try {
      const result = toDeviceSchema.safeParse(JSON.parse(text));
      if (result.success) return result.data;
      const issue = result.error.issues[0];
      this.#options.log.warn(
        { field: issue?.path.join("."), issue: issue?.message },
        "a frame from the relay was not understood",
      );
    } catch {
      this.#options.log.warn("a frame from the relay is not JSON");
    }
    return undefined;
  }

  #registered(frame: Extract<ToDevice, { type: "device_registered" }>): void {
    const {
      manifest_wanted,
      ledger_id,
      credit_above,
      status_wanted = false,
      progress_wanted = false,
    } = frame;
    if (this.#registeredAt !== undefined) return;
    this.#creditAbove = credit_above;
    this.#wantsStatus = status_wanted;
    this.#wantsProgress = progress_wanted;
    clearTimeout(this.#timer);
    this.#registeredAt = performance.now();
    const line = {
      ping: () => this.#send("ping"),
      leftBytes: () => this.#sentBytes + this.streamSocket.sentBytes - this.#socket.bufferedAmount,
    };
    this.#heartbeat = new Heartbeat(line, this.#options.heartbeat ?? HEARTBEAT, () =>
      this.#drop("The relay did not answer the heartbeat"),
    );
    this.#options.onState("REGISTERED");
    if (manifest_wanted) this.sendText({ type: "manifest", ...this.#options.manifest() });
    this.#options.onRegistered(this, ledger_id);
  }

  #noteError(frame: Extract<ToDevice, { type: "error" }>): void {
    this.#options.log.warn({ error_code: frame.error_code }, `the relay says: ${frame.message}`);
    if (this.#registeredAt !== undefined) return;
    this.#why = frame.message;
    if (this.#registerSent && frame.details?.final === true) this.#refusal = keyRefusedError(frame.message);
  }

  /** The upgrade got a plain HTTP response, from the relay or from something in between. */
  async #refused(response: IncomingMessage): Promise<void> {
    const answer = await readAnswer(response);
    this.#unknown = isUnknownDevice(answer);
    this.#why = upgradeRefused(answer);
    this.#socket.terminate();
    this.#closed(1006, "");
  }

  #drop(why: string): void {
    this.#why ??= why;
    this.#socket.terminate();
  }

  #stop(): void {
    this.#stopping = true;
    if (this.isOpen) this.#socket.close(1001, "The agent stops");
    else this.#socket.terminate();
    setTimeout(() => this.#socket.terminate(), 1000).unref();
  }

  #closed(code: number, reason: string): void {
    clearTimeout(this.#timer);
    this.#heartbeat?.stop();
    this.#options.onGone(this);
    this.#end.resolve(this.#endOf(code, reason));
  }

  #endOf(code: number, reason: string): LinkEnd {
    if (this.#stopping) return { kind: "stopped" };
    const isRegistered = this.#registeredAt !== undefined;
    const error = this.#refusal ?? (isRegistered ? finalCloseError(code, reason) : undefined);
    if (error) return { kind: "refused", error };
    const said = reason ? `${reason} (${code})` : `The connection closed (${code})`;
    const why = this.#why ?? said;
    if (this.#unknown) return { kind: "unknown", why };
    const registeredMs = this.#registeredAt === undefined ? 0 : performance.now() - this.#registeredAt;
    return { kind: "lost", why, registeredMs };
  }
}

/** The close event reports the connection's end. */
function ignoreFailure(): void {}

/** The status, and what can be read of a problem+json body. */
async function readAnswer(response: IncomingMessage): Promise<UpgradeAnswer> {
  const status = response.statusCode ?? 0;
  let text = "";
  try {
    for await (const chunk of response) {
      text += chunk;
      if (text.length > 8192) break;
    }
    const { type, detail } = JSON.parse(text) as { type?: unknown; detail?: unknown };
    if (typeof type !== "string" || !type.startsWith("urn:matrx:error:")) return { status };
    return { status, type, detail: typeof detail === "string" ? detail.slice(0, 300) : undefined };
  } catch {
    return { status };
  }
}
