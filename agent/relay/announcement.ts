/**
 * Keeps the relay up to date on this device's tools: which of them can work may change while the agent runs, and so may the
 * rules by which the device's own policy asks.
 */
import { TIMES } from "@matrx/shared/limits.ts";
import type { Policy, PolicyAskRule } from "@matrx/shared/policy.ts";
import type { Manifest } from "@matrx/shared/tool.ts";
import type { Logger } from "pino";
import { manifestOf } from "../core/manifest.ts";
import type { ToolSource } from "../core/tool-source.ts";
import type { Link } from "./link.ts";

/** A change of the policy file is announced within this time, in milliseconds. */
const POLICY_LOOK = 1000;

export interface AnnouncementOptions {
  readonly tools: ToolSource;
  /** The device's own policy. */
  readonly policy: { current(): Policy };
  readonly log: Logger;
  /** How often to check which tools can work, in milliseconds. */
  readonly everyMs?: number | undefined;
}

export class Announcement {
  readonly #options: AnnouncementOptions;
  readonly #log: Logger;
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #unsubscribe: () => void;
  #ask: readonly PolicyAskRule[];
  #current: Manifest;
  /** Hash of the manifest that the relay was last sent. */
  #told: string | undefined;
  #link: Link | undefined;
  #looks = 0;
  /** The look that `current` comes from. */
  #latest = 0;

  static async begin(options: AnnouncementOptions): Promise<Announcement> {
    const ask = askIn(options.policy) ?? [];
    return new Announcement(options, ask, await manifestOf(options.tools.current(), ask));
  }

  private constructor(options: AnnouncementOptions, ask: readonly PolicyAskRule[], current: Manifest) {
    const { log, everyMs = TIMES.toolsLook } = options;
    this.#options = options;
    this.#log = log;
    this.#ask = ask;
    this.#current = current;
    this.#timers = [
      setInterval(() => void this.look(), everyMs).unref(),
      setInterval(() => this.#lookAtPolicy(), POLICY_LOOK).unref(),
    ];
    this.#unsubscribe = options.tools.onChange(() => void this.look());
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

  /** Checks which tools can work now and what is asked about, and tells the relay if that has changed. */
  async look(): Promise<void> {
    try {
      this.#ask = askIn(this.#options.policy) ?? this.#ask;
      const look = ++this.#looks;
      const manifest = await manifestOf(this.#options.tools.current(), this.#ask);
      // A later look may have ended first.
      if (look < this.#latest) return;
      this.#latest = look;
      this.#current = manifest;
      this.#tell();
    } catch (err) {
      this.#log.error({ err }, "could not check which tools can work");
    }
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#unsubscribe();
    this.#link = undefined;
  }

  #lookAtPolicy(): void {
    const ask = askIn(this.#options.policy);
    if (ask && JSON.stringify(ask) !== JSON.stringify(this.#ask)) void this.look();
  }

  #tell(): void {
    if (!this.#link?.isOpen || this.#told === this.#current.hash) return;
    this.#told = this.#current.hash;
    this.#link.sendText({ type: "manifest", ...this.#current });
    const unavailable = this.#current.tools.filter((tool) => tool.unavailable).map(({ name }) => name);
    this.#log.info(
      { unavailable, ask: this.#ask.length },
      "what this device can do, or asks about, has changed",
    );
  }
}

/** Undefined while the file is damaged, and every call refused. */
function askIn(policy: AnnouncementOptions["policy"]): readonly PolicyAskRule[] | undefined {
  try {
    return policy.current().ask ?? [];
  } catch {
    return undefined;
  }
}
