/** An agent with small tools and its files in a folder of the test's. */

import { onTestFinished } from "vitest";
import { type AgentEnd, type AgentOptions, runAgent } from "../../../agent/agent.ts";
import { homeOf, makeHome } from "../../../agent/config/app-dirs.ts";
import { makeIdentity } from "../../../agent/config/identity.ts";
import type { ClientState } from "../../../agent/relay/link.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { silentLog, smallToolbox } from "../core/small-tools.ts";

export const DEVICE = "box-0123456789";

export interface StartedAgent {
  readonly states: ClientState[];
  readonly end: Promise<AgentEnd>;
  readonly runs: Map<string, number>;
  readonly publicKey: string;
  readonly home: ReturnType<typeof homeOf>;
  stop(): Promise<AgentEnd>;
}

export function startAgent(
  relay: string,
  {
    times,
    folder = temporaryFolder(),
    toolbox = smallToolbox(),
    events,
  }: {
    times?: AgentOptions["times"];
    folder?: string;
    toolbox?: ReturnType<typeof smallToolbox>;
    events?: AgentOptions["events"];
  } = {},
): StartedAgent {
  const home = homeOf({ MATRX_HOME: folder });
  makeHome(home);
  const identity = makeIdentity();
  const states: ClientState[] = [];
  const stopping = new AbortController();
  const end = runAgent(
    {
      config: { relay, device_id: DEVICE, name: "box" },
      onState: (state) => states.push(state),
      times: { retryDelay: () => 10, ...times },
      windDownMs: 500,
      log: silentLog,
      ...{ home, identity, events, toolbox: async () => toolbox },
    },
    stopping.signal,
  );
  const stop = () => {
    stopping.abort();
    return end;
  };
  onTestFinished(async () => {
    await stop();
  });
  return { states, end, stop, home, runs: toolbox.runs, publicKey: identity.publicKey };
}
