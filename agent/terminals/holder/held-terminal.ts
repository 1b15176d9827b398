/** A terminal that the holder holds: its program, its output, its screen, and those who watch it. */

import { markOf } from "../../platform/environment.ts";
import { stopTree } from "../../platform/kill-tree.ts";
import type { Platform } from "../../platform/platform.ts";
import type { ProcessRoot } from "../../platform/processes.ts";
import {
  type CreateRequest,
  type HolderLimits,
  type SHELL_STATES,
  TERMINAL_LIMITS,
  type TerminalEvent,
  type TerminalExit,
  type TerminalScreen,
  type TerminalSignal,
} from "../protocol.ts";
import { MarkScanner } from "./marks.ts";
import type { OpenPty, Pty } from "./pty.ts";
import { Recording } from "./recording.ts";
import { Ring } from "./ring.ts";
import { Screen } from "./screen.ts";
import type { Viewer } from "./viewer.ts";

export interface HeldOptions {
  readonly request: CreateRequest;
  readonly open: OpenPty;
  readonly platform: Platform;
  readonly limits: HolderLimits;
  /** It has ended, and its time is over. */
  readonly onForgotten: () => void;
}

export class HeldTerminal {
  readonly request: CreateRequest;
  readonly ring = new Ring(TERMINAL_LIMITS.ringBytes);
  readonly #options: HeldOptions;
  readonly #pty: Pty;
  readonly #screen: Screen;
  readonly #marks: MarkScanner;
  readonly #recording: Recording | undefined;
  readonly #viewers = new Set<Viewer>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #began: Promise<string | undefined>;
  #size: { cols: number; rows: number };
  /** Why reading is stopped: a viewer that lags, or a screen that is being drawn. */
  readonly #pauses = new Set<"lag" | "screen">();
  #drawing = 0;
  #title = "";
  #cwd: string | undefined;
  #state: (typeof SHELL_STATES)[number] = "unknown";
  #exit: TerminalExit | undefined;
  #forget: NodeJS.Timeout | undefined;

  constructor(options: HeldOptions) {
    const { request, open, platform } = options;
    this.#options = options;
    this.request = request;
    this.#size = { cols: request.cols, rows: request.rows };
    this.#marks = new MarkScanner(request.nonce);
    this.#screen = new Screen(this.ring, this.#size, (text) => this.#answer(text));
    const { recording, file: shell } = request;
    // Nobody sees or types what is no longer recorded.
    const leave = () => this.#viewers.forEach((viewer) => void viewer.close());
    this.#recording =
      recording === undefined ? undefined : new Recording(recording, { ...this.#size, shell }, leave);
    this.#pty = open(request, {
      onOutput: (bytes) => this.#take(bytes),
      onExit: (code, signal) => this.#end({ code, signal, at: Date.now() }),
    });
    this.#began = platform.processes.beginOf(this.#pty.pid);
  }

  get pid(): number {
    return this.#pty.pid;
  }

  get exit(): TerminalExit | undefined {
    return this.#exit;
  }

  /** What is known of it without asking the system. */
  facts() {
    const { begin, end } = this.ring;
    const facts = { ...this.#size, begin, end, title: this.#title, state: this.#state };
    const recorded = this.#recording?.isOn ?? false;
    return { ...facts, recorded, cwd: this.#cwd ?? null, exit: this.#exit ?? null, viewers: this.viewers() };
  }

  viewers() {
    return [...this.#viewers].flatMap(({ label, write, since }) =>
      label === undefined ? [] : [{ label, write, since }],
    );
  }

  /** What is typed; resolves when there is room for more. */
  async write(bytes: Buffer): Promise<void> {
    if (this.#exit) return;
    this.#pty.input.write(bytes);
    if (this.#pty.input.isFull) await this.#pty.input.drained();
  }

  /** Whether its program has not read what was typed. */
  get isFull(): boolean {
    return this.#pty.input.isFull;
  }

  resize(cols: number, rows: number): void {
    if (this.#exit || (cols === this.#size.cols && rows === this.#size.rows)) return;
    this.#size = { cols, rows };
    this.#pty.resize(cols, rows);
    this.#screen.resize(cols, rows);
    this.#recording?.resized(cols, rows);
    this.#tell({ event: "size", cols, rows });
  }

  /** To the program in the foreground, if the system tells which one that is; else to the shell. */
  async signal(signal: TerminalSignal): Promise<void> {
    const group = (await this.#options.platform.terminals.foregroundOf(this.pid))?.group;
    if (this.#exit) return;
    if (group === undefined || group === this.pid) this.#pty.kill(signal);
    else process.kill(-group, signal);
  }

  async screen(): Promise<TerminalScreen> {
    return await this.#drawn(async () => ({ ...(await this.#screen.read()), title: this.#title }));
  }

  async snapshot(): Promise<{ readonly text: string; readonly at: number }> {
    return await this.#drawn(() => this.#screen.snapshot());
  }

  add(viewer: Viewer): void {
    this.#viewers.add(viewer);
    this.#tellViewers(viewer);
    viewer.pump();
    if (this.#exit) viewer.end({ event: "exit", ...this.#exit });
  }

  remove(viewer: Viewer): void {
    if (!this.#viewers.delete(viewer)) return;
    this.#tellViewers(viewer);
    this.balance();
  }

  /** Stops reading while a viewer lags behind, and goes on when none does. */
  balance(): void {
    const lag = Math.max(0, ...[...this.#viewers].map((viewer) => viewer.lag));
    if (lag > TERMINAL_LIMITS.viewerLagBytes) this.#pause("lag");
    else if (lag < TERMINAL_LIMITS.viewerLagBytes / 2) this.#resume("lag");
  }

  /** Ends it with everything that it started. Resolves with the processes that could not be ended: usually none. */
  async close(): Promise<number[]> {
    const { processes, terminals } = this.#options.platform;
    const root = await this.#root();
    // The system may give its device to another terminal as soon as this one has ended.
    const users = this.#exit ? [] : await terminals.usersOf(this.pid);
    const begins = await Promise.all(users.map((pid) => processes.beginOf(pid)));
    const stillUsers = async () => {
      const now = await Promise.all(users.map((pid) => processes.beginOf(pid)));
      return users.filter((_, index) => now[index] !== undefined && now[index] === begins[index]);
    };
    if (!this.#exit) this.#pty.kill("SIGHUP");
    const members = async () => [...new Set([...(await processes.members(root)), ...(await stillUsers())])];
    const left = await stopTree({ ...processes, members }, root, TERMINAL_LIMITS.closeGraceMs);
    // Its output is read to the end, so that it ends.
    this.#pauses.clear();
    this.#pty.resume();
    if (left.length === 0) await this.#ended.promise;
    this.#done();
    return left;
  }

  async #root(): Promise<ProcessRoot> {
    return { pid: this.pid, began: (await this.#began) ?? "", mark: markOf(this.request.id) };
  }

  #take(bytes: Buffer): void {
    const seq = this.ring.end;
    this.ring.append(bytes);
    this.#recording?.output(bytes);
    this.#screen.noteOutput();
    for (const found of this.#marks.scan(bytes, seq)) {
      if (found.kind === "title") this.#title = found.title;
      else if (found.kind === "cwd") this.#cwd = found.cwd;
      else {
        const { kind: _, ...mark } = found;
        if (mark.mark === "start") this.#state = "running";
        else if (mark.mark === "input") this.#state = "prompt";
        this.#tell({ event: "mark", ...mark });
      }
    }
    for (const viewer of this.#viewers) viewer.pump();
    this.balance();
  }

  /** Programs ask the terminal of its first viewer that may write; the screen answers while there is none. */
  #answer(text: string): void {
    if ([...this.#viewers].some(({ write, label }) => write && label !== undefined)) return;
    // A program may ask on and on, and never read.
    if (!this.isFull) void this.write(Buffer.from(text));
  }

  #end(exit: TerminalExit): void {
    if (this.#exit) return;
    this.#exit = exit;
    this.#recording?.close();
    for (const viewer of this.#viewers) viewer.end({ event: "exit", code: exit.code, signal: exit.signal });
    this.#ended.resolve();
    this.#forget = setTimeout(() => this.#done(), this.#options.limits.endedKeptMs);
  }

  #done(): void {
    clearTimeout(this.#forget);
    // Those of one that has ended go when they have all of it.
    if (!this.#exit) for (const viewer of this.#viewers) viewer.close();
    this.#screen.close();
    this.#options.onForgotten();
  }

  async #drawn<T>(draw: () => Promise<T>): Promise<T> {
    this.#drawing++;
    this.#pause("screen");
    try {
      return await draw();
    } finally {
      this.#drawing--;
      if (this.#drawing === 0) this.#resume("screen");
    }
  }

  #pause(why: "lag" | "screen"): void {
    if (this.#exit || this.#pauses.has(why)) return;
    if (this.#pauses.size === 0) this.#pty.pause();
    this.#pauses.add(why);
  }

  #resume(why: "lag" | "screen"): void {
    if (!this.#pauses.delete(why) || this.#pauses.size > 0 || this.#exit) return;
    this.#pty.resume();
  }

  #tell(event: TerminalEvent): void {
    for (const viewer of this.#viewers) viewer.tell(event);
  }

  #tellViewers(changed: Viewer): void {
    if (changed.label === undefined) return;
    const event: TerminalEvent = { event: "viewers", viewers: this.viewers() };
    for (const viewer of this.#viewers) if (viewer !== changed) viewer.tell(event);
  }
}
