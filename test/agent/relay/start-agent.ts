/** An agent with small tools and its files in a folder of the test's. */

import { expect, onTestFinished } from "vitest";
import { type AgentEnd, type AgentParts, startAgent as startReal } from "../../../agent/agent.ts";
import { homeOf, makeHome } from "../../../agent/config/app-dirs.ts";
import { makeIdentity } from "../../../agent/config/identity.ts";
import { EventHub } from "../../../agent/events/hub.ts";
import { Problems } from "../../../agent/monitors/problems.ts";
import type { ClientState } from "../../../agent/relay/link.ts";
import type { RelayOptions } from "../../../agent/relay/relay.ts";
import type { Toolbox } from "../../../agent/toolbox.ts";
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

/** Small tools in place of this machine's, and nothing watched. */
export function smallParts(
  toolbox: Toolbox = smallToolbox(),
  hub = new EventHub({ device: DEVICE }),
): AgentParts {
  const problems = new Problems(() => undefined);
  return {
    openReporting: () => ({ log: silentLog, hub, problems, close: () => undefined }),
    openToolbox: async () => toolbox,
    startMonitors: async () => ({ close: async () => undefined }),
  };
}

export function startAgent(
  relay: string,
  {
    times,
    folder = temporaryFolder(),
    toolbox = smallToolbox(),
    events,
  }: {
    times?: RelayOptions["times"];
    folder?: string;
    toolbox?: ReturnType<typeof smallToolbox>;
    events?: EventHub;
  } = {},
): StartedAgent {
  const home = homeOf({ MATRX_HOME: folder });
  makeHome(home);
  const identity = makeIdentity();
  const states: ClientState[] = [];
  const stopping = new AbortController();
  const end = startReal(
    {
      ...{ home, device: DEVICE, log: {}, monitors: undefined, windDownMs: 500 },
      relay: {
        config: { relay, device_id: DEVICE },
        identity,
        onState: (state) => states.push(state),
        times: { retryDelay: () => 10, ...times },
      },
    },
    stopping.signal,
    smallParts(toolbox, events),
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

/** Resolves when one of its tools runs for this time. */
export async function running({ runs }: StartedAgent, tool: string, times = 1): Promise<void> {
  await expect.poll(() => runs.get(tool)).toBe(times);
}
