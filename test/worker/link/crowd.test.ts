/** Strangers who open a device's sockets and wait: the device itself gets in, and nothing that they do ends its agent. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { TIMES } from "@matrx/shared/limits.ts";
import { generateKeyPair } from "jose";
import { afterEach, expect, it, vi } from "vitest";
import { AgentDevice, type AgentIdentity, BareDevice, pairAgent, registerFrame } from "../helpers/device.ts";
import { object } from "../helpers/home.ts";
import { bearer, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

afterEach(() => {
  vi.useRealTimers();
});

async function paired(): Promise<AgentIdentity> {
  return pairAgent(await Person.signIn());
}

/** So many strangers dial, from one address. */
function strangers(id: string, count: number, address = "192.0.2.1"): Promise<AgentDevice[]> {
  const dial = () => AgentDevice.dial(id, { "CF-Connecting-IP": address });
  return Promise.all(Array.from({ length: count }, dial));
}

async function register(device: AgentDevice, { id, key }: AgentIdentity): Promise<void> {
  device.send(await registerFrame(id, key, device.nonce));
  await device.expect("device_registered");
}

it("keeps the place of a connection that came with the device's own credential, each of five times", async () => {
  const identity = await paired();
  for (let time = 0; time < 5; time++) {
    const device = await AgentDevice.dialVouched(identity);
    const crowd = await strangers(identity.id, 80);
    await register(device, identity);
    for (const stranger of crowd) stranger.close();
  }
});

it("keeps it over a sleep, too", async () => {
  const identity = await paired();
  // What counts the ten seconds keeps the object awake.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const device = await AgentDevice.dialVouched(identity);
  await strangers(identity.id, 30);
  await evictDurableObject(object(identity.id));
  await strangers(identity.id, 80);
  await register(device, identity);
});

it("keeps the place of a bare device whose token came with the upgrade", async () => {
  const { id, token } = await (await Person.signIn()).bareDevice();
  const response = await ask(`/v1/device/ws?device=${id}`, {
    headers: { Upgrade: "websocket", ...bearer(token) },
  });
  const { webSocket } = response;
  if (!webSocket) throw new Error(`${response.status}`);
  webSocket.accept();
  await strangers(id, 80);
  const answer = new Promise((resolve) => webSocket.addEventListener("message", resolve));
  webSocket.send(JSON.stringify({ type: "device_register", device_id: id }));
  expect(JSON.parse(((await answer) as MessageEvent).data as string)).toMatchObject({
    type: "device_registered",
  });
});

it("lets a crowd from one address close its own connections, not that of a device without a credential", async () => {
  const identity = await paired();
  const device = await AgentDevice.dial(identity.id, { "CF-Connecting-IP": "198.51.100.7" });
  const crowd = await strangers(identity.id, 200);
  await register(device, identity);
  expect(await crowd[0]?.closed).toEqual({ code: 4408, reason: "Others are waiting to register" });
});

it("takes another's credential for none", async () => {
  const identity = await paired();
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519" });
  const address = "192.0.2.1";
  const forged = await AgentDevice.dialVouched(
    { id: identity.id, key: privateKey },
    { "CF-Connecting-IP": address },
  );
  await strangers(identity.id, 64, address);
  expect((await forged.closed).code).toBe(4408);
});

it("turns strangers away at the door once 256 sockets do not go", async () => {
  const identity = await paired();
  const crowd: WebSocket[] = [];
  const dial = () => ask(`/v1/device/ws?device=${identity.id}`, { headers: { Upgrade: "websocket" } });
  for (;;) {
    const { status, webSocket } = await dial();
    if (!webSocket) {
      expect([status, crowd.length]).toEqual([503, 256]);
      break;
    }
    // Who does not read does not answer a close frame.
    webSocket.accept({ allowHalfOpen: true } as never);
    crowd.push(webSocket);
    if (crowd.length > 256) throw new Error("all were accepted");
  }
  await register(await AgentDevice.dialVouched(identity), identity);
  for (const socket of crowd) socket.close();
});

it("says that nothing was checked when the registration comes too late", async () => {
  const identity = await paired();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const device = await AgentDevice.dial(identity.id);
  await runInDurableObject(object(identity.id), () => vi.advanceTimersByTime(TIMES.registerWithin));
  expect(await device.expect("error")).toMatchObject({ error_code: "TIMEOUT" });
  expect((await device.closed).code).toBe(4408);
});

it("says that it is final when the key is another, and of nothing else", async () => {
  const identity = await paired();
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519" });
  const answerTo = async (frame: (nonce: string) => Promise<object>) => {
    const device = await AgentDevice.dial(identity.id);
    device.send(await frame(device.nonce));
    const { error_code, details } = await device.expect("error");
    expect((await device.closed).code).toBe(4401);
    return [error_code, details?.final];
  };
  const { id, key } = identity;
  expect(await answerTo((nonce) => registerFrame(id, privateKey, nonce))).toEqual(["UNAUTHENTICATED", true]);
  expect(await answerTo((nonce) => registerFrame(id, key, nonce, { audience: "elsewhere" }))).toEqual([
    "UNAUTHENTICATED",
    undefined,
  ]);
  expect(await answerTo(() => registerFrame(id, key, "another"))).toEqual(["UNAUTHENTICATED", undefined]);
});

it("hears no bare device before its token, though strangers wait", async () => {
  const { id, token } = await (await Person.signIn()).bareDevice();
  await strangers(id, 10);
  const device = await BareDevice.register(id, token);
  device.send({ type: "device_heartbeat" });
  expect((await device.nextJson()).type).toBe("heartbeat_ack");
});
