/** A grant that is gone: nothing is heard of it, whatever its holder does and however the object slept. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";
import { TestCaller } from "../helpers/caller.ts";
import { AgentDevice, BareDevice } from "../helpers/device.ts";
import { type Home, home, object } from "../helpers/home.ts";
import { bearer, json } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** A socket whose holder does not answer a close frame. */
async function stubborn(id: string, token: string): Promise<WebSocket> {
  const response = await ask(`/v1/devices/${id}/ws`, { headers: { Upgrade: "websocket", ...bearer(token) } });
  const { webSocket } = response;
  if (!webSocket) throw new Error(`${response.status}`);
  webSocket.accept({ allowHalfOpen: true } as never);
  return webSocket;
}

async function revoke({ person }: Home, grant: string): Promise<void> {
  expect((await person.ask(`/v1/tokens/${grant}`, { method: "DELETE" })).status).toBe(204);
}

it("is not heard on a socket that does not close, nor over REST after a sleep", async () => {
  const house = await home();
  const { person, identity, device, caller } = house;
  const { token, id } = await person.token({ access: "full" });
  const socket = await stubborn(identity.id, token);
  const closed = new Promise((resolve) => socket.addEventListener("close", resolve));
  await revoke(house, id);
  await closed;
  expect(await device.expect("session_end")).toMatchObject({ grant: id });
  socket.send(JSON.stringify({ id: "1", tool: "Bash", input: { command: "rm" } }));
  const answering = caller.call("SystemInfo");
  expect((await device.serve("")).tool).toBe("SystemInfo");
  await answering;
  await evictDurableObject(object(identity.id));
  socket.send(JSON.stringify({ id: "2", tool: "Bash", input: { command: "rm" } }));
  const late = await ask(`/v1/devices/${identity.id}/tools/Bash`, json({}, bearer(token)));
  expect(late.status).toBe(401);
  expect(device.unread).toBe(0);
});

it("is answered before its socket closes", async () => {
  const house = await home();
  const { token, id } = await house.person.token({ access: "full" });
  const caller = await TestCaller.connect(house.identity.id, token);
  caller.send({ id: "1", tool: "Bash", input: {} });
  await house.device.expect("tool_execute");
  await revoke(house, id);
  expect(await caller.nextJson()).toMatchObject({ id: "1", code: "UNAUTHENTICATED" });
  expect((await caller.closed).code).toBe(4403);
});

it("has its sockets closed although the storage fails, and its device away is told later", async () => {
  const house = await home();
  const { person, identity, device } = house;
  const { token, id } = await person.token({ access: "read" });
  const caller = await TestCaller.connect(identity.id, token);
  device.close();
  await device.closed;
  const write = await runInDurableObject(object(identity.id), (_, { storage: { kv } }) => {
    const put = kv.put.bind(kv);
    kv.put = (key: string, value: unknown) => {
      if (key.startsWith("ended:")) throw new Error("database or disk is full");
      put(key, value);
    };
    return () => Object.assign(kv, { put });
  });
  await revoke(house, id);
  expect((await caller.closed).code).toBe(4403);
  await runInDurableObject(object(identity.id), write);
  await runInDurableObject(env.ACCOUNT.getByName(person.account), (account) => account.alarm());
  const back = await AgentDevice.come(identity);
  expect(await back.expect("session_end")).toMatchObject({ grant: id });
});

it("ends on a device that was away when it was revoked", async () => {
  const house = await home();
  const { person, identity, device } = house;
  const { token, id } = await person.token({ access: "full" });
  await TestCaller.connect(identity.id, token);
  device.close();
  await device.closed;
  await revoke(house, id);
  const back = await AgentDevice.come(identity);
  expect(await back.expect("session_end")).toMatchObject({ grant: id });
  back.close();
  await back.closed;
  const again = await AgentDevice.come(identity);
  again.send({ type: "device_heartbeat" });
  expect((await again.nextJson()).type).toBe("heartbeat_ack");
});

it("ends at the first renewal when its account says no, though the lease would still hold", async () => {
  const { person, device, token, caller } = await home();
  const { gid } = JSON.parse(atob(token.split(".")[1] ?? "")) as { gid: string };
  await runInDurableObject(env.ACCOUNT.getByName(person.account), (_, state) =>
    state.storage.sql.exec("DELETE FROM grants WHERE id = ?", gid),
  );
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 11 * 60_000 });
  device.send({ type: "device_heartbeat" });
  await device.expect("heartbeat_ack");
  caller.send({ action: "ping" });
  expect((await caller.closed).code).toBe(4403);
});

it("with folders does not reach a bare device, where nothing could hold it to them", async () => {
  const { person } = await home();
  const bare = await person.bareDevice();
  const device = await BareDevice.register(bare.id, bare.token);
  const limited = await person.token({ access: "full", paths: ["/srv"] });
  const caller = await TestCaller.connect(bare.id, limited.token);
  expect(await caller.call("delete_directory", { path: "/home" })).toMatchObject({
    code: "PERMISSION_DENIED",
    hint: expect.any(String),
    hop: "relay",
  });
  expect(device.unread).toBe(0);
});

it("is pushed again when the account's object died before the device acknowledged", async () => {
  const house = await home();
  const { token, id } = await house.person.token({ access: "full" });
  await TestCaller.connect(house.identity.id, token);
  await revoke(house, id);
  const alarm = await runInDurableObject(env.ACCOUNT.getByName(house.person.account), (_, state) =>
    state.storage.getAlarm(),
  );
  expect(alarm).not.toBeNull();
});
