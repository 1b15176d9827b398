/** Whether the MCP servers that this machine mounts run, as its agents say. */
import type { Home } from "../../config/app-dirs.ts";
import { readConfig } from "../../config/config.ts";
import { mountsStateSchema } from "../../control/mount-routes.ts";
import type { Result } from "../../doctor/parts.ts";
import { ControlClient } from "../client/control-client.ts";

/** One result for each server of the configuration; none if the configuration cannot be read. */
export async function mountChecks(home: Home): Promise<Result[]> {
  const names = Object.keys(configured(home)).sort();
  if (names.length === 0) return [];
  const began = performance.now();
  const views = await runningMounts(home);
  const ms = Math.round(performance.now() - began);
  return names.map((name) => {
    const view = views.find((one) => one.name === name);
    if (!view)
      return { name, state: "untried", fact: "no agent runs here that mounts it", hint: undefined, ms };
    const { state, tools, left_out: leftOut, why } = view;
    if (state === "disabled") return { name, state: "untried", fact: "disabled", hint: undefined, ms };
    const hint = leftOut.length > 0 ? `Left out: ${leftOut.join("; ")}` : undefined;
    if (state === "running") return { name, state: "ok", fact: `running, ${tools.length} tools`, hint, ms };
    const again = "It is tried again by itself. What it says: matrx logs, with log_level debug";
    return { name, state: "missing", fact: why ?? "it is being started", hint: again, ms };
  });
}

/** The machine's other checks say what is wrong with the configuration. */
function configured(home: Home): object {
  try {
    return readConfig(home)?.mcpServers ?? {};
  } catch {
    return {};
  }
}

/** Of the first agent that mounts any. */
async function runningMounts(home: Home) {
  if (!ControlClient.canReach(home)) return [];
  for (const agent of ControlClient.all(home)) {
    // An agent of an earlier version does not know the question.
    const state = await agent.ask("GET", "/mounts", mountsStateSchema).catch(() => undefined);
    if (state && state.mounts.length > 0) return state.mounts;
  }
  return [];
}
