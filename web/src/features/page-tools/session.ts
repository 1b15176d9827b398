/** The tools of the page for one machine, from when its pages are shown until they are left. */
import type { Tool as MachineTool } from "../../relay/call.ts";
import { cancelled, failureOf, PageToolError } from "./failure.ts";
import { PageFolders } from "./folders.ts";
import { Gate, until } from "./gate.ts";
import { MachineCalls } from "./machine.ts";
import { TerminalIds } from "./terminal-ids.ts";
import { PageTerminals } from "./terminals.ts";
import type { PageTool, ToolContext } from "./tool.ts";

/** How the page goes elsewhere. */
export interface Ways {
  toTerminals(device: string): void;
  toFolder(device: string, path: string): void;
}

export class PageSession {
  readonly device: string;
  readonly gate = new Gate();
  readonly #ways: Ways;
  readonly #ids: TerminalIds;
  readonly #ended = new AbortController();
  /** Ends what runs now. */
  #round = new AbortController();
  #isReachable = true;

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

  /** The person takes back what they allowed; what runs is cancelled. */
  stop(): void {
    this.gate.close();
    this.#abort(cancelled("The person stopped it"));
  }

  /** The machine's pages were left, or the person is no longer signed in. */
  end(why: string): void {
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
    const run = (tool: MachineTool, input: Record<string, unknown>) => calls.call(tool, input);
    return {
      signal,
      terminals: new PageTerminals(device, this.#ids, () => this.#ways.toTerminals(device), signal),
      folders: new PageFolders(device, (path) => this.#ways.toFolder(device, path), signal),
      read: (name, input) => run({ name, effect: "read" }, input),
      allowed: async (act) => {
        await this.gate.allow(act, signal);
        return { run: (name, input) => run({ name, effect: "execute" }, input) };
      },
    };
  }
}

function offline(): PageToolError {
  return new PageToolError("The machine is offline", {
    code: "DEVICE_OFFLINE",
    hint: "What had begun may have run: look when it is back, before you repeat it",
  });
}
