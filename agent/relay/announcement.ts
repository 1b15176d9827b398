/** Keeps the relay up to date on this device's tools: which of them can work may change while the agent runs. */
import { TIMES } from "@matrx/shared/limits.ts";
import type { Manifest } from "@matrx/shared/tool.ts";
import type { Logger } from "pino";
import { manifestOf } from "../core/manifest.ts";
import type { Tool } from "../core/tool.ts";
import type { Link } from "./link.ts";

export class Announcement {
  readonly #tools: readonly Tool[];
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  #current: Manifest;
  /** Hash of the manifest that the relay was last sent. */
  #told: string | undefined;
  #link: Link | undefined;

  static async begin(tools: readonly Tool[], log: Logger, everyMs?: number): Promise<Announcement> {
    return new Announcement(tools, log, await manifestOf(tools), everyMs ?? TIMES.toolsLook);
  }

  private constructor(tools: readonly Tool[], log: Logger, current: Manifest, everyMs: number) {
    this.#tools = tools;
    this.#log = log;
    this.#current = current;
    this.#timer = setInterval(() => void this.look(), everyMs).unref();
  }

  get current(): Manifest {
    return this.#current;
  }

  /** The current manifest, whose hash goes into a registration. */
  async fresh(): Promise<Manifest> {
    await this.look();
    this.#told = this.#current.hash;
    return this.#current;
  }

  /** Called when a connection is registered. */
  attach(link: Link): void {
    this.#link = link;
    this.#tell();
  }

  detach(link: Link): void {
    if (this.#link === link) this.#link = undefined;
  }

  /** Checks which tools can work now, and tells the relay if that has changed. */
  async look(): Promise<void> {
    try {
      this.#current = await manifestOf(this.#tools);
      this.#tell();
    } catch (err) {
      this.#log.error({ err }, "could not check which tools can work");
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.#link = undefined;
  }

  #tell(): void {
    if (!this.#link?.isOpen || this.#told === this.#current.hash) return;
    this.#told = this.#current.hash;
    this.#link.sendText({ type: "manifest", ...this.#current });
    const unavailable = this.#current.tools.filter((tool) => tool.unavailable).map(({ name }) => name);
    this.#log.info({ unavailable }, "the tools that can work have changed");
  }
}
