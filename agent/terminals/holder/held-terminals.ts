/** The terminals that the holder holds, and what can be asked of them. It decides nothing about who may. */
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Platform } from "../../platform/platform.ts";
import { type HolderLimits, type HolderRequest, TERMINAL_LIMITS } from "../protocol.ts";
import { HeldTerminal } from "./held-terminal.ts";
import type { OpenPty } from "./pty.ts";
import { Refusal } from "./refusal.ts";

export interface HeldTerminalsOptions {
  /** Each terminal's files are in a folder of its name in there. */
  readonly folder: string;
  readonly open: OpenPty;
  readonly pty: boolean;
  readonly platform: Platform;
  readonly limits: HolderLimits;
  readonly onChange: () => void;
}

export class HeldTerminals {
  readonly #options: HeldTerminalsOptions;
  readonly #terminals = new Map<string, HeldTerminal>();

  constructor(options: HeldTerminalsOptions) {
    this.#options = options;
  }

  get pty(): boolean {
    return this.#options.pty;
  }

  get size(): number {
    return this.#terminals.size;
  }

  /** Throws Refusal. */
  find(id: string): HeldTerminal {
    const terminal = this.#terminals.get(id);
    if (!terminal) throw new Refusal("NOT_FOUND", `No terminal ${id}`);
    return terminal;
  }

  /** Throws Refusal. */
  async serve(request: Exclude<HolderRequest, { op: "attach" }>): Promise<unknown> {
    switch (request.op) {
      case "create":
        return { pid: this.#create(request).pid };
      case "list":
        return await Promise.all([...this.#terminals].map(([id, terminal]) => this.#infoOf(id, terminal)));
      case "screen":
        return await this.find(request.id).screen();
      case "write":
        return this.#type(this.#living(request.id), Buffer.from(request.base64, "base64"));
      case "resize":
        return this.#living(request.id).resize(request.cols, request.rows);
      case "signal":
        return await this.#living(request.id).signal(request.signal);
      case "close":
        return await this.find(request.id).close();
    }
  }

  #type(terminal: HeldTerminal, bytes: Buffer): void {
    if (terminal.isFull) throw new Refusal("BUSY", "The program in it has not read what was typed before");
    void terminal.write(bytes);
  }

  #create(request: Extract<HolderRequest, { op: "create" }>): HeldTerminal {
    if (this.#terminals.size >= TERMINAL_LIMITS.most)
      throw new Refusal("FULL", `${this.#terminals.size} terminals are open, the most there may be at once`);
    if (this.#terminals.has(request.id)) throw new Refusal("INVALID", "There is one with this id");
    // The library would only end with exit code 1.
    if (!statSync(request.cwd, { throwIfNoEntry: false })?.isDirectory())
      throw new Refusal("INVALID", `${request.cwd} is not a folder`);
    const { open, platform, limits, folder, onChange } = this.#options;
    const terminal = new HeldTerminal({
      ...{ request, open, platform, limits },
      onForgotten: () => {
        this.#terminals.delete(request.id);
        rmSync(join(folder, request.id), { recursive: true, force: true });
        onChange();
      },
    });
    this.#terminals.set(request.id, terminal);
    onChange();
    return terminal;
  }

  #living(id: string): HeldTerminal {
    const terminal = this.find(id);
    if (terminal.exit) throw new Refusal("ENDED", `${id} has ended`);
    return terminal;
  }

  async #infoOf(id: string, terminal: HeldTerminal) {
    const { terminals } = this.#options.platform;
    const foreground = terminal.exit ? undefined : await terminals.foregroundOf(terminal.pid);
    const facts = terminal.facts();
    return {
      ...{ id, pid: terminal.pid, record: terminal.request.record, ...facts },
      cwd: facts.cwd ?? foreground?.cwd ?? null,
      foreground: foreground?.command ?? null,
    };
  }
}
