/** One mounted MCP server: started, listed, started again when it ends, until it is closed. */
import { setTimeout as sleep } from "node:timers/promises";
import type { MatrxError } from "@matrx/shared/errors.ts";
import { oneLine } from "@matrx/shared/one-line.ts";
import { SdkError, SdkErrorCode, type Transport } from "@modelcontextprotocol/client";
import type { Logger } from "pino";
import type { ServerSettings } from "../config/mount-settings.ts";
import type { Lack, Tool } from "../core/tool.ts";
import type { Pictures } from "../pictures/pictures.ts";
import { orAborted } from "../platform/or-aborted.ts";
import { CHANGED_PROGRAM, closedError } from "./closed-tool.ts";
import { Connection, type Era } from "./connection.ts";
import type { Host } from "./mounted-tool.ts";
import { OfferedTools } from "./offered-tools.ts";
import type { Pin } from "./pin.ts";
import type { ProgramPart } from "./program-parts.ts";

const WHY_CHARS = 150;
/** How often a closed server looks whether it was allowed, in milliseconds. */
const LOOK_EVERY = 1000;

const SECOND = 1000;

export interface MountTimes {
  /** It must have listed its tools by then, in milliseconds. */
  readonly startWithin: number;
  /** Pause before it is started again: the first one, doubled each time, up to the longest. */
  readonly firstPause: number;
  readonly longestPause: number;
  /** After so long without a failure the pauses begin anew. */
  readonly healthyAfter: number;
}

export const MOUNT_TIMES: MountTimes = {
  startWithin: 30 * SECOND,
  firstPause: SECOND,
  longestPause: 60 * SECOND,
  healthyAfter: 60 * SECOND,
};

/** A connection's transport, and why it ended by itself. */
export interface MountTransport extends Transport {
  readonly why?: string | undefined;
}

export interface MountOptions {
  readonly name: string;
  readonly settings: ServerSettings;
  /** Makes the transport of a new attempt. */
  readonly transport: () => Promise<MountTransport>;
  /** Which program a new attempt would start. */
  readonly program: () => Promise<readonly ProgramPart[]>;
  /** Absent: its owner allows all changes. */
  readonly pin: Pin | undefined;
  readonly times: MountTimes;
  readonly log: Logger;
  readonly pictures: Pictures;
  /** Why its tools, or some, are closed until the owner allows them; undefined if none is any more. */
  readonly onClosed: (why: string | undefined) => void;
  /** The tools have changed, or whether they can be used. */
  readonly onChange: () => void;
}

/** How a mounted server stands, for the machine's user. */
export interface MountView {
  readonly name: string;
  readonly state: "starting" | "running" | "failed" | "disabled";
  /** Names of its tools, as the device has them. */
  readonly tools: readonly string[];
  /** Tools, and parts of their schemas, each with why. */
  readonly left_out: readonly string[];
  readonly why?: string;
}

export class Mount implements Host {
  readonly #options: MountOptions;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  readonly #settled = Promise.withResolvers<void>();
  #connection: Connection | undefined;
  #ended = Promise.withResolvers<string>();
  #why: string | undefined;
  readonly #offered: OfferedTools;
  /** Of the latest attempt. */
  #program: readonly ProgramPart[] = [];
  /** Aborted to try again at once. */
  #again = new AbortController();
  #looking: NodeJS.Timeout | undefined;
  #era: Era = "auto";
  #listing: Promise<void> = Promise.resolve();

  constructor(options: MountOptions) {
    this.#options = options;
    this.#offered = new OfferedTools(this, options.pin, options.log);
    this.#running = options.settings.disabled ? Promise.resolve() : this.#keepRunning();
    if (options.settings.disabled) this.#settled.resolve();
  }

  get server(): string {
    return this.#options.name;
  }

  get timeoutMs(): number | undefined {
    return this.#options.settings.timeout_ms;
  }

  get pictures(): Pictures {
    return this.#options.pictures;
  }

  get connection(): Connection | undefined {
    return this.#connection;
  }

  get lack(): Lack | undefined {
    if (this.#connection) return undefined;
    return {
      why: `The MCP server ${this.server} is not running: ${this.#why ?? "it is being started"}`,
      help: "It is started again by itself. `matrx doctor` on that machine says more",
    };
  }

  /** Those of the last time that it ran; while it does not, they cannot be used. */
  get tools(): readonly Tool[] {
    return this.#offered.tools;
  }

  refusal(name: string): MatrxError | undefined {
    return this.#offered.isClosed(name) ? closedError(this.server, name) : undefined;
  }

  /** Resolves once it has run, or failed, for the first time. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  get view(): MountView {
    const { disabled } = this.#options.settings;
    const down = this.#why === undefined ? "starting" : "failed";
    return {
      name: this.server,
      state: disabled ? "disabled" : this.#connection ? "running" : down,
      tools: this.tools.map(({ name }) => name).filter((name) => !this.#offered.isClosed(name)),
      left_out: this.#offered.leftOut,
      ...(!this.#connection && this.#why !== undefined && { why: this.#why }),
    };
  }

  /** An HTTP server does not say that it is gone: a call finds out. */
  lost(connection: Connection, error: unknown): void {
    if (this.#connection !== connection || (error instanceof SdkError && STAYS.has(error.code))) return;
    this.#connection = undefined;
    this.#ended.resolve(reasonOf(error));
  }

  async close(): Promise<void> {
    clearInterval(this.#looking);
    this.#stop.abort();
    await this.#running;
  }

  async #keepRunning(): Promise<void> {
    const { times, log, onChange } = this.#options;
    const { signal } = this.#stop;
    let pause = times.firstPause;
    while (!signal.aborted) {
      const began = performance.now();
      const why = await this.#runOnce().catch(reasonOf);
      this.#connection = undefined;
      if (signal.aborted) return;
      if (performance.now() - began >= times.healthyAfter) pause = times.firstPause;
      this.#why = oneLine(why, WHY_CHARS);
      this.#settled.resolve();
      log.warn(
        { server: this.server, again_in_ms: pause },
        `a mounted MCP server does not run: ${this.#why}`,
      );
      onChange();
      this.#again = new AbortController();
      await sleep(pause, undefined, { signal: AbortSignal.any([signal, this.#again.signal]) }).catch(
        () => undefined,
      );
      pause = Math.min(2 * pause, times.longestPause);
    }
  }

  /** Runs it until it ends; resolves with the reason. */
  async #runOnce(): Promise<string> {
    const { times, onChange, log, pin } = this.#options;
    this.#program = await this.#options.program();
    if (pin?.allowsProgram(this.#program) === false) {
      this.#offered.closeAll(pin.names);
      this.#tellClosed();
      throw new Error(CHANGED_PROGRAM);
    }
    const transport = await this.#options.transport();
    const ended = Promise.withResolvers<string>();
    this.#ended = ended;
    const start = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(times.startWithin)]);
    let opened: Connection | undefined;
    try {
      const opening = Connection.open(transport, {
        era: this.#era,
        signal: start,
        onToolsChanged: () => this.#listAgain(),
        onClosed: () => ended.resolve(transport.why ?? "it closed the connection"),
      });
      opened = await orAborted(opening, start);
      this.#offered.take(await orAborted(opened.tools(start), start), this.#program);
      this.#tellClosed();
      this.#connection = opened;
      this.#why = undefined;
      this.#settled.resolve();
      log.info({ server: this.server, tools: this.view.tools.length }, "mounted an MCP server");
      onChange();
      return await orAborted(ended.promise, this.#stop.signal);
    } catch (error) {
      if (error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed) this.#era = "legacy";
      if (transport.why !== undefined) return transport.why;
      if (start.aborted && !opened) return `it did not start within ${times.startWithin / SECOND} s`;
      if (start.aborted && !this.#connection)
        return `it did not list its tools within ${times.startWithin / SECOND} s`;
      throw error;
    } finally {
      this.#connection = undefined;
      await opened?.close().catch(() => undefined);
      await transport.close().catch(() => undefined);
    }
  }

  /** One listing at a time; a server that says again and again that it changed is listed no faster. */
  #listAgain(): void {
    const connection = this.#connection;
    if (!connection) return;
    const { signal } = this.#stop;
    this.#listing = this.#listing
      .then(async () => {
        if (this.#connection !== connection) return;
        this.#offered.take(await connection.tools(signal), this.#program);
        this.#tellClosed();
        this.#options.onChange();
      })
      .catch((error: unknown) =>
        this.#options.log.warn({ server: this.server }, `its tools could not be listed: ${reasonOf(error)}`),
      );
  }

  #tellClosed(): void {
    clearInterval(this.#looking);
    const why = this.#offered.whyClosed;
    this.#options.onClosed(why);
    if (why !== undefined && !this.#stop.signal.aborted)
      this.#looking = setInterval(() => this.#lookAgain(), LOOK_EVERY).unref();
  }

  /** The owner may have allowed what is closed. */
  #lookAgain(): void {
    if (!this.#options.pin?.isStale) return;
    if (this.#connection) this.#listAgain();
    else this.#again.abort();
  }
}

/** What a server says wrong in one answer; the connection goes on. */
const STAYS: ReadonlySet<string> = new Set([
  SdkErrorCode.InvalidResult,
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.RequestTimeout,
]);

function reasonOf(error: unknown): string {
  return oneLine(error instanceof Error ? error.message : String(error), WHY_CHARS);
}
