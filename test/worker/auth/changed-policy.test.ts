/** A device's policy at the relay that is narrowed while calls run: what it no longer allows ends. */
import type { Policy } from "@matrx/shared/policy.ts";
import { expect, it } from "vitest";
import { TestCaller } from "../helpers/caller.ts";
import { AgentDevice } from "../helpers/device.ts";
import { home } from "../helpers/home.ts";

const BEFORE: Policy = {
  allowed_tools: ["Bash", "TerminalCreate", "TerminalInput", "Read", "Write"],
  allowed_paths: ["/srv/a", "/srv/b"],
  denied_paths: ["/srv/a/closed"],
};

it.each<[change: Policy, ends: boolean]>([
  [{ allowed_paths: ["/srv/a"] }, true],
  [{ allowed_paths: [] }, true],
  [{ denied_paths: ["/srv/a/closed", "/srv/b/x"] }, true],
  [{ denied_tools: ["Bash"] }, true],
  [{ denied_tools: ["Terminal*"] }, true],
  [{ allowed_tools: ["Read"] }, true],
  [{ sandbox: "always" }, true],
  [{ record_terminals: true }, true],
  [{ allowed_paths: ["/srv/a", "/srv/b", "/srv/c"] }, false],
  [{ denied_paths: [] }, false],
  [{ denied_tools: ["Write"] }, false],
  [{ ask: [{ effects: ["execute"] }] }, false],
  [{ allowed_ports: [80] }, false],
  [{ allowed_apps: [] }, false],
  [{ rates: { calls_per_minute: 10 } }, false],
])("narrowed by %j: ends what commands left running is %s", async (change, ends) => {
  const { person, identity, device } = await home();
  await person.setPolicy(identity.id, BEFORE);
  await device.expect("session_end");
  await device.expect("system_command");
  await person.setPolicy(identity.id, { ...BEFORE, ...change });
  if (ends) expect(await device.nextJson()).toEqual({ type: "session_end", grant: "*", only: "commands" });
  expect(await device.nextJson()).toMatchObject({ type: "system_command" });
});

it("stops the calls that it no longer allows, and lets others end", async () => {
  const { person, identity, device, caller, token } = await home();
  caller.send({ id: "shell", tool: "Bash", input: {} });
  const shell = await device.expect("tool_execute");
  const other = await TestCaller.connect(identity.id, token);
  other.send({ id: "read", tool: "Read", input: {} });
  const read = await device.expect("tool_execute");
  await person.setPolicy(identity.id, { denied_tools: ["Bash"] });
  expect(await caller.nextJson()).toMatchObject({ id: "shell", code: "PERMISSION_DENIED", hop: "relay" });
  expect(await device.expect("tool_cancel")).toMatchObject({ tool_call_id: shell.tool_call_id });
  device.answer(read, "text");
  expect(await other.nextJson()).toMatchObject({ id: "read", output: "text" });
});

it("is told to a device that was away", async () => {
  const { person, identity, device } = await home();
  device.close();
  await device.closed;
  await person.setPolicy(identity.id, { denied_tools: ["Bash"] });
  const back = await AgentDevice.come(identity);
  expect(await back.expect("session_end")).toMatchObject({ grant: "*" });
});
