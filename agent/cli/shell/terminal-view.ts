/** Shows a device's terminal in this one, and types into it. When the connection is lost it comes back by itself, where it was. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RelayClient } from "@matrx/client/http/relay-client.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { StreamEnd } from "@matrx/shared/streams/endpoint.ts";
import * as z from "zod";
import { deviceBySocket } from "../client/device.ts";
import { plain } from "../output/print.ts";
import { EscapeKeys } from "./escape.ts";
import { OwnTerminal } from "./own-terminal.ts";

export interface ViewOptions {
  readonly client: RelayClient;
  readonly device: string;
  readonly terminal: string;
  /** Ends the view, not the terminal. */
  readonly stop: AbortSignal;
}

export type ViewEnd =
  | { readonly kind: "detached" }
  /** Another terminal is wanted, and this one stays open. */
  | { readonly kind: "next" }
  /** The program in the terminal ended. */
  | { readonly kind: "ended"; readonly code: number | undefined; readonly signal: string | undefined };

const CREDIT = 256 * 1024;
/** Keys that wait while there is no connection, in bytes: more are dropped, with a bell. */
const KEYS_MAX = 4 * 1024;
/** Of a paste that is sent more slowly than it comes: from here on it is not read, in bytes. */
const PASTE_MAX = 1024 * 1024;
const RETRY_MS = { first: 500, most: 10_000 } as const;
/** These pass; with anything else the terminal is out of reach for good. */
const PASSING: ReadonlySet<string> = new Set(["UNAVAILABLE", "DEVICE_OFFLINE", "TIMEOUT", "OUTCOME_UNKNOWN"]);

const HELP =
  "Enter ~ . leaves the terminal open and comes back here, Enter ~ n goes to the next open one, Enter ~ ~ types a ~";

const viewerSchema = z.object({ label: z.string(), write: z.boolean() });
const messageSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("attached"), sequence: z.number(), snapshot_bytes: z.number() }),
  z.object({ type: z.literal("gap"), to: z.number() }),
  z.object({ type: z.literal("viewers"), viewers: z.array(viewerSchema) }),
]);
const endSchema = z.object({ exit_code: z.number().nullish(), signal: z.string().optional() });

export class TerminalView {
  readonly #options: ViewOptions;
  readonly #left = new AbortController();
  #leftFor: "detached" | "next" = "detached";
  readonly #escape = new EscapeKeys();
  readonly #own: OwnTerminal;
  #keys: Buffer = Buffer.alloc(0);
  #typed = Promise.withResolvers<void>();
  #stream: StreamEnd | undefined;
  /** Keys were sent, and nothing was written since. */
  #isUnanswered = false;
  /** The next byte of the terminal's output; unknown before it was attached. */
  #sequence: number | undefined;
  /** All who watch it, this one among them. */
  #viewers: readonly z.infer<typeof viewerSchema>[] = [];

  private constructor(options: ViewOptions) {
    this.#options = options;
    this.#own = new OwnTerminal(
      (bytes) => this.#type(bytes),
      () => this.#resize(),
    );
    options.stop.addEventListener("abort", () => this.#left.abort(), { once: true });
  }

  /** Resolves when the terminal has ended, or was left. Throws MatrxError. */
  static async run(options: ViewOptions): Promise<ViewEnd> {
    const view = new TerminalView(options);
    using _own = view.#own;
    return await view.#run();
  }

  async #run(): Promise<ViewEnd> {
    let delay: number = RETRY_MS.first;
    while (!this.#left.signal.aborted) {
      try {
        return await this.#attached(() => {
          delay = RETRY_MS.first;
        });
      } catch (error) {
        if (this.#left.signal.aborted) break;
        if (!(error instanceof MatrxError) || !PASSING.has(error.code)) throw error;
        const lost = this.#isUnanswered ? "; what you typed last may not have arrived" : "";
        this.#isUnanswered = false;
        this.#own.say(`${error.message}${lost}; trying again, Enter ~ . leaves`);
      }
      await sleep(delay, undefined, { signal: this.#left.signal }).catch(() => undefined);
      delay = Math.min(RETRY_MS.most, delay * 2);
    }
    return { kind: this.#leftFor };
  }

  async #attached(onAttached: () => void): Promise<ViewEnd> {
    const { client, device, terminal } = this.#options;
    const connection = deviceBySocket(client, device);
    const leave = () => connection.close();
    this.#left.signal.addEventListener("abort", leave, { once: true });
    try {
      const from = this.#sequence === undefined ? {} : { from_sequence: this.#sequence };
      const input = { terminal, write: true, ...from };
      const { stream } = await connection.open("TerminalAttach", input, {
        credit: CREDIT,
        signal: this.#left.signal,
      });
      onAttached();
      this.#stream = stream;
      this.#resize();
      // What goes wrong with the stream, its reader sees.
      this.#sendKeys(stream).catch(() => undefined);
      return await this.#show(stream);
    } finally {
      this.#stream = undefined;
      this.#own.resumeKeys();
      this.#left.signal.removeEventListener("abort", leave);
      connection.close();
    }
  }

  /** Throws MatrxError if the stream breaks off. */
  async #show(stream: StreamEnd): Promise<ViewEnd> {
    let drawn = 0;
    for await (const piece of stream.incoming()) {
      if (piece.kind === "data") {
        this.#isUnanswered = false;
        await this.#own.write(piece.bytes);
        const ofSnapshot = Math.min(drawn, piece.bytes.length);
        drawn -= ofSnapshot;
        this.#sequence = (this.#sequence ?? 0) + piece.bytes.length - ofSnapshot;
        continue;
      }
      const { data } = messageSchema.safeParse(piece.message);
      if (data?.type === "attached") {
        [this.#sequence, drawn] = [data.sequence, data.snapshot_bytes];
        if (drawn > 0) await this.#own.clear();
      } else if (data?.type === "gap") this.#sequence = data.to;
      else if (data?.type === "viewers") this.#viewers = data.viewers;
    }
    const { exit_code, signal } = endSchema.parse(stream.trailer ?? {});
    return { kind: "ended", code: exit_code ?? undefined, signal };
  }

  #type(bytes: Buffer): void {
    const { bytes: keys, action } = this.#escape.read(bytes);
    if (!this.#stream && this.#keys.length + keys.length > KEYS_MAX) this.#own.ring();
    else this.#keys = Buffer.concat([this.#keys, keys]);
    if (this.#stream && this.#keys.length > PASTE_MAX) this.#own.pauseKeys();
    this.#typed.resolve();
    if (action === "help") return this.#own.say(this.#help());
    if (action === undefined) return;
    if (action === "next") this.#leftFor = "next";
    this.#left.abort();
  }

  #help(): string {
    if (this.#viewers.length < 2) return HELP;
    const viewers = this.#viewers.map(
      ({ label, write }) => `${plain(label)} (${write ? "types" : "only watches"})`,
    );
    return `${HELP}; ${viewers.length} are in this terminal: ${viewers.join(", ")}`;
  }

  /** Until another stream is there. Rejects when this one is over. */
  async #sendKeys(stream: StreamEnd): Promise<void> {
    while (this.#stream === stream) {
      while (this.#keys.length > 0) {
        const keys = this.#keys;
        this.#keys = Buffer.alloc(0);
        this.#isUnanswered = true;
        await stream.write(keys);
        this.#own.resumeKeys();
      }
      this.#typed = Promise.withResolvers();
      await this.#typed.promise;
    }
  }

  #resize(): void {
    this.#stream?.send({ type: "resize", ...OwnTerminal.size }).catch(() => undefined);
  }
}
