/** The owner edits the machine's `policy.json` while calls run: what it no longer allows ends, whoever asked for it. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../helpers/folder.ts";
import { OWNER, READER, smallToolbox } from "../core/small-tools.ts";
import { type DeviceSocket, startScriptedRelay } from "./scripted-relay.ts";
import { running, startAgent } from "./start-agent.ts";

/** An agent whose owner edits its policy; `ended` counts how often commands and terminals were ended. */
async function machine(policy: Policy = {}) {
  const folder = temporaryFolder();
  const file = join(folder, "policy.json");
  const edit = (text: string) => {
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  edit(JSON.stringify(policy));
  const relay = await startScriptedRelay();
  const small = smallToolbox();
  let ended = 0;
  const stopJobs = async (paused: string) => {
    if (paused === "everyone") ended++;
    return [];
  };
  const agent = startAgent(relay.url, {
    folder,
    toolbox: { ...small, stopJobs },
    times: { toolsLookMs: 60_000 },
  });
  const socket = await relay.connection();
  await socket.register();
  const set = (next: Policy) => edit(JSON.stringify(next));
  /** The relay has the file read at once. */
  const reload = async () => {
    socket.send({ type: "system_command", command: "update_permissions" });
    socket.send({ type: "call_status", tool_call_ids: ["none"] });
    for (;;) if ((await socket.texts.next()).type === "call_status") return;
  };
  return { agent, socket, file, edit, set, reload, ended: () => ended };
}

function run(
  socket: DeviceSocket,
  call: string,
  tool: string,
  grant: GrantScope,
  parameters: object = {},
): void {
  socket.send({
    ...{ type: "tool_execute", tool_call_id: call, id: call, tool, parameters: { ...parameters } },
    ...{ timeout_sec: 5, grant, policy: {} },
  });
}

test("a call that it no longer allows ends within a second or two, and is told so", async () => {
  const { agent, socket, set, ended } = await machine();
  run(socket, "search", "Grep", READER);
  run(socket, "command", "Bash", OWNER, { command: "x", ms: 5000 });
  await running(agent, "Grep");
  await running(agent, "Bash");
  set({ denied_tools: ["Grep"] });
  expect((await socket.result()).answer).toMatchObject({
    ...{
      id: "search",
      code: "PERMISSION_DENIED",
      output: expect.stringContaining("Grep is not allowed by the device's policy"),
    },
    hop: "agent",
  });
  expect(ended()).toBe(0);
  socket.send({ type: "tool_cancel", tool_call_id: "command" });
  expect((await socket.result()).answer).toMatchObject({ id: "command", code: "CANCELLED" });
});

test.each<[change: Policy, ends: boolean]>([
  [{ allowed_paths: ["/srv/a"] }, true],
  [{ denied_paths: ["/srv/a/closed", "/srv/b/x"] }, true],
  [{ denied_tools: ["Bash"] }, true],
  [{ sandbox: "always" }, true],
  [{ allowed_paths: ["/srv/a", "/srv/b", "/srv/c"] }, false],
  [{ denied_paths: [] }, false],
  [{ denied_tools: ["Write"] }, false],
  [{ ask: [{ effects: ["execute"] }] }, false],
  [{ rates: { calls_per_minute: 10 } }, false],
])("changed by %j: ends commands and terminals is %s", async (change, ends) => {
  const before = { allowed_paths: ["/srv/a", "/srv/b"], denied_paths: ["/srv/a/closed"] };
  const { set, reload, ended } = await machine(before);
  set({ ...before, ...change });
  await reload();
  if (ends) await expect.poll(ended).toBe(2);
  else expect(ended()).toBe(0);
});

test("a mistake in it ends nothing, nor does mending it; what the mended file narrows ends", async () => {
  const { agent, socket, edit, set, reload, ended } = await machine();
  run(socket, "search", "Grep", READER);
  await running(agent, "Grep");
  edit('{ "denied_tools": ["Gre');
  await reload();
  run(socket, "refused", "Read", READER, { file_path: "/x" });
  expect((await socket.result()).answer).toMatchObject({ id: "refused", code: "PERMISSION_DENIED" });
  set({});
  await reload();
  run(socket, "read", "Read", READER, { file_path: "/x" });
  expect((await socket.result()).answer).toMatchObject({ id: "read", output: "read /x" });
  edit("{");
  await reload();
  set({ denied_tools: ["Grep", "Bash"] });
  await reload();
  expect((await socket.result()).answer).toMatchObject({ id: "search", code: "PERMISSION_DENIED" });
  await expect.poll(ended).toBe(2);
});

test("a policy that is removed ends nothing", async () => {
  const { agent, socket, file, reload, ended } = await machine({ allowed_paths: ["/srv"] });
  run(socket, "search", "Grep", OWNER);
  await expect.poll(() => agent.runs.get("Grep") ?? 0).toBe(1);
  rmSync(file);
  await reload();
  socket.send({ type: "tool_cancel", tool_call_id: "search" });
  expect((await socket.result()).answer).toMatchObject({ id: "search", code: "CANCELLED" });
  expect(ended()).toBe(0);
});
