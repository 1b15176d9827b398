/** No frame of a relay, whatever it claims, opens a machine that its user paused. */
import { expect, test } from "vitest";
import { homeOf } from "../../../agent/config/app-dirs.ts";
import { PauseFile } from "../../../agent/config/pause-file.ts";
import type { GrantScope } from "../../../shared/grant.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { OWNER, READER } from "../core/small-tools.ts";
import { type DeviceSocket, startScriptedRelay } from "./scripted-relay.ts";
import { startAgent } from "./start-agent.ts";

function execute(socket: DeviceSocket, call: string, grant: GrantScope): void {
  socket.send({
    ...{ type: "tool_execute", tool_call_id: call, id: call, tool: "Read", parameters: { file_path: "/a" } },
    ...{ timeout_sec: 5, grant, policy: {} },
  });
}

test("its commands, policies, grants and registrations leave it closed", async () => {
  const folder = temporaryFolder();
  const relay = await startScriptedRelay();
  const agent = startAgent(relay.url, { folder });
  new PauseFile(agent.home).pause("everyone");
  const socket = await relay.connection();
  await socket.register();
  socket.send({ type: "system_command", command: "update_permissions", permissions: {} });
  socket.send({ type: "session_end", grant: OWNER.id });
  await expect
    .poll(async () => {
      execute(socket, crypto.randomUUID(), OWNER);
      return (await socket.result()).answer.metadata;
    })
    .toEqual({ reason: "PAUSED", paused: "everyone" });

  socket.send({ type: "system_command", command: "restart_client" });
  expect(await agent.end).toBe("restart");
  startAgent(relay.url, { folder });
  const again = await relay.connection();
  await again.register({ permissions: {}, paused: null });
  execute(again, "c1", OWNER);
  expect((await again.result()).answer).toMatchObject({ code: "PERMISSION_DENIED", hop: "agent" });
});

test("closed to AI: whoever is not the owner is refused, whatever the relay's policy says", async () => {
  const folder = temporaryFolder();
  const relay = await startScriptedRelay();
  new PauseFile(homeOf({ MATRX_HOME: folder })).pause("ai");
  startAgent(relay.url, { folder });
  const socket = await relay.connection();
  await socket.register();
  execute(socket, "c1", READER);
  expect((await socket.result()).answer.metadata).toEqual({ reason: "PAUSED", paused: "ai" });
  execute(socket, "c2", OWNER);
  expect((await socket.result()).header.status).toBe("success");
});

test("a relay that wants to know is told of each change; an older one is not", async () => {
  const folder = temporaryFolder();
  const relay = await startScriptedRelay();
  const agent = startAgent(relay.url, { folder });
  const socket = await relay.connection();
  expect(await socket.register({ status_wanted: true })).not.toHaveProperty("paused");
  const file = new PauseFile(agent.home);
  file.pause("ai");
  expect(await socket.texts.next()).toEqual({ type: "device_status", paused: "ai" });
  file.pause("everyone");
  expect(await socket.texts.next()).toEqual({ type: "device_status", paused: "everyone" });
  file.resume();
  expect(await socket.texts.next()).toEqual({ type: "device_status", paused: null });
  file.pause("everyone");
  expect(await socket.texts.next()).toMatchObject({ paused: "everyone" });
  socket.socket.terminate();

  const older = await relay.connection();
  expect(await older.register()).toMatchObject({ paused: "everyone" });
  file.resume();
  await expect
    .poll(async () => {
      execute(older, crypto.randomUUID(), OWNER);
      return (await older.result()).header.status;
    })
    .toBe("success");
  expect(older.texts.size).toBe(0);
});
