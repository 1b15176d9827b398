/** The local server with what it needs: calls of the owner, and a journal for those with an idempotency key. */
import type { Logger } from "pino";
import type { Home } from "../config/app-dirs.ts";
import { PolicyFile } from "../config/policy-file.ts";
import { CallRates } from "../core/call-rates.ts";
import { Dispatcher } from "../core/dispatcher.ts";
import { openJournal } from "../core/journal.ts";
import type { EventHub } from "../events/hub.ts";
import type { Toolbox } from "../toolbox.ts";
import { LocalCalls } from "./local-calls.ts";
import { type LocalServer, startLocalServer } from "./server.ts";

export interface LocalOptions {
  readonly home: Home;
  readonly device: string;
  readonly toolbox: Toolbox;
  readonly hub: EventHub;
  readonly log: Logger;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Undefined: no token is asked for. */
  readonly token: string | undefined;
  readonly allowedOrigins: readonly string[];
}

/** Starts it; `close` stops its calls first. Throws MatrxError. */
export async function openLocal(options: LocalOptions): Promise<LocalServer> {
  const { home, device, toolbox, log } = options;
  const journal = openJournal(home.localJournalFile, log);
  const { tools, sessions } = toolbox;
  const policy = new PolicyFile(home);
  policy.warn(tools, log);
  const shared = { device, tools, sessions, policy, rates: new CallRates(), log };
  const keyedDispatcher = new Dispatcher({ ...shared, journal });
  void Promise.all(keyedDispatcher.recover());
  const calls = new LocalCalls({
    device,
    tools,
    policy,
    dispatcher: new Dispatcher(shared),
    keyedDispatcher,
  });
  try {
    const server = await startLocalServer({ ...options, calls });
    const close = async () => {
      await calls.stopAll("The local server was stopped");
      await server.close();
      journal.close();
    };
    return { ...server, close };
  } catch (error) {
    journal.close();
    throw error;
  }
}
