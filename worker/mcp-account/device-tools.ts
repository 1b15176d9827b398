/** What the tools about devices themselves tell. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Caller } from "../auth/caller.ts";
import type { Env } from "../env.ts";
import { unwrap } from "../outcome.ts";
import { reachableDevices, reachDevice } from "../reach.ts";

/** Rejects with MatrxError. */
export async function listDevices(env: Env, caller: Caller): Promise<CallToolResult> {
  const devices = await Promise.all(
    (await reachableDevices(env, caller)).map(async ({ id, name, sharedBy }) => {
      const view = await viewOf(env, caller, id).catch(() => undefined);
      const { state = "UNKNOWN", os = null } = view ?? {};
      return { id, name, state, os, ...(sharedBy !== undefined && { shared_by: sharedBy }) };
    }),
  );
  return structured({ devices });
}

/** Rejects with MatrxError. */
export async function deviceHealth(env: Env, caller: Caller, id: string): Promise<CallToolResult> {
  const { name, state, last_seen, proof, os, os_version, agent_version, paused, alerts } = await viewOf(
    env,
    caller,
    id,
  );
  return structured({ id, name, state, last_seen, proof, os, os_version, agent_version, paused, alerts });
}

async function viewOf(env: Env, caller: Caller, id: string) {
  const reached = await reachDevice(env, caller, id);
  return unwrap(await reached.device.viewFor(reached.caller));
}

function structured(value: Record<string, unknown>): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}
