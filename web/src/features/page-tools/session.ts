/** The tools of the page for one machine, from when its pages are shown until they are left. */
import { Mutex } from "@matrx/shared/mutex.ts";
import type { Tool as MachineTool } from "../../relay/call.ts";
import { cancelled, failureOf, PageToolError } from "./failure.ts";
import { PageFolders } from "./folders.ts";
import { Gate, until } from "./gate.ts";
import { callAside, MachineCalls } from "./machine.ts";
import { TerminalIds } from "./terminal-ids.ts";
import { PageTerminals } from "./terminals.ts";
import type { PageTool, ToolContext } from "./tool.ts";

/** How the page goes elsewhere. */
export interface Ways {
  toTerminals(device: string): void;
  toFolder(device: string, path: string): void;
}

/** For so long calls wait for the relay to come back, in milliseconds. */
const RELAY_WITHIN = 60_000;

export class PageSession {
  readonly device: string;
  readonly gate = new Gate();
  readonly #ways: Ways;
  readonly #ids: TerminalIds;
  readonly #showing = new Mutex();
  readonly #ended = new AbortController();
  /** Ends what runs now. */
  #round = new AbortController();
  #isReachable = true;
  #isRelayAway = false;
  #awayTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(device: string, ways: Ways) {
    this.device = device;
    this.#ways = ways;
    this.#ids = new TerminalIds(device);
  }

  /** Does what a tool is asked for. Throws PageToolError. */
  async run(tool: PageTool, input: unknown, caller?: AbortSignal): Promise<unknown> {
    const signals = [this.#ended.signal, this.#round.signal];
    const signal = AbortSignal.any(caller ? [...signals, caller] : signals);
    try {
      const start = tool.prepare(input);
      signal.throwIfAborted();
      if (!this.#isReachable) throw offline();
      if (this.#isRelayAway) throw unreachable();
      await this.gate.enter(signal);
      return await until(start(this.#context(signal)), signal);
    } catch (error) {
      if (caller?.aborted) throw cancelled("The caller cancelled it");
      throw failureOf(signal.aborted ? signal.reason : error);
    }
  }

  /** The machine went away, or came back. */
  setReachable(isReachable: boolean): void {
    if (this.#isReachable && !isReachable) this.#abort(offline());
    this.#isReachable = isReachable;
  }

  /** The connection to the relay broke, or is there again. */
  setConnected(isConnected: boolean): void {
    clearTimeout(this.#awayTimer);
    this.#isRelayAway = false;
    if (isConnected || this.#ended.signal.aborted) return;
    this.#awayTimer = setTimeout(() => {
      this.#isRelayAway = true;
      this.#abort(unclear());
    }, RELAY_WITHIN);
  }

  /** The person takes back what they allowed; what runs is cancelled. */
  stop(): void {
    this.gate.close();
    this.#abort(cancelled("The person stopped it"));
  }

  /** The machine's pages were left, or the person is no longer signed in. */
  end(why: string): void {
    clearTimeout(this.#awayTimer);
    this.#ended.abort(cancelled(why));
    this.gate.close();
  }

  #abort(reason: PageToolError): void {
    this.#round.abort(reason);
    this.#round = new AbortController();
  }

  #context(signal: AbortSignal): ToolContext {
    const { device } = this;
    const calls = new MachineCalls(device, signal);
    const goThere = () => this.#ways.toTerminals(device);
    return {
      signal,
      terminals: new PageTerminals({ device, ids: this.#ids, showing: this.#showing, goThere, signal }),
      folders: new PageFolders(device, (path) => this.#ways.toFolder(device, path), signal),
      read: (name, input) => calls.call({ name, effect: "read" }, input),
      allowed: async (act) => {
        await this.gate.allow(act, signal);
        return {
          run: (name, input, late) => calls.call(executing(name), input, late),
          undo: (name, input) => callAside(device, executing(name), input),
        };
      },
    };
  }
}

function executing(name: string): MachineTool {
  return { name, effect: "execute" };
}

function unreachable(): PageToolError {
  return new PageToolError("The relay can't be reached", {
    code: "UNAVAILABLE",
    hint: "Nothing was done; the page connects again by itself, so try later",
  });
}

/** Of what had begun when the relay went away. */
function unclear(): PageToolError {
  return new PageToolError("The relay could not be reached for a minute", {
    code: "OUTCOME_UNKNOWN",
    hint: "It may have run, or still run: look when the page is connected again, before you repeat it",
  });
}

function offline(): PageToolError {
  return new PageToolError("The machine is offline", {
    code: "DEVICE_OFFLINE",
    hint: "What had begun may have run: look when it is back, before you repeat it",
  });
}
