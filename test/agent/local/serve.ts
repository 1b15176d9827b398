/** A local server with small tools, for one test. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Dispatcher } from "../../../agent/core/dispatcher.ts";
import { Journal } from "../../../agent/core/journal.ts";
import { fixedTools } from "../../../agent/core/tool-source.ts";
import { EventHub } from "../../../agent/events/hub.ts";
import { LocalCalls } from "../../../agent/local/local-calls.ts";
import { startLocalServer } from "../../../agent/local/server.ts";
import type { Policy } from "../../../shared/policy.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { silentLog, smallToolbox } from "../core/small-tools.ts";

export const TOKEN = "a-token-of-this-machine";
export const PAGE = "https://app.example";

export async function serve({ asksToken = true, host = "localhost", port = 0 } = {}) {
  const toolbox = smallToolbox();
  const policy: Policy = {};
  const policyFile = { current: () => policy };
  const journal = new Journal(join(temporaryFolder(), "journal"));
  const tools = fixedTools(toolbox.tools);
  const dispatcher = new Dispatcher({
    ...{ device: "box", policy: policyFile, journal, log: silentLog, windDownMs: 300 },
    ...toolbox,
    tools,
  });
  const calls = new LocalCalls({ device: "box", tools, dispatcher, policy: policyFile });
  const hub = new EventHub({ device: "box" });
  const server = await startLocalServer({
    ...{ host, port, allowedOrigins: [PAGE], log: silentLog },
    ...{ calls, hub, token: asksToken ? TOKEN : undefined },
  });
  onTestFinished(async () => {
    await dispatcher.stopAll("over");
    await server.close();
    journal.close();
  });
  return { ...server, runs: toolbox.runs, policy, calls, hub };
}

export const bearer = { Authorization: `Bearer ${TOKEN}` };
export const json = { ...bearer, "Content-Type": "application/json" };
