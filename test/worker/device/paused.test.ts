/** A device that its user paused: what its owner sees at the relay. */
import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { AgentDevice } from "../helpers/device.ts";
import { home, object } from "../helpers/home.ts";

test("a paused device says so, also after a sleep of its object, until it is open again", async () => {
  const { person, identity, device } = await home();
  const paused = async () =>
    (await (await person.ask(`/v1/devices/${identity.id}`)).json<{ paused: string | null }>()).paused;
  expect(await paused()).toBeNull();
  device.send({ type: "device_status", paused: "ai" });
  await expect.poll(paused).toBe("ai");
  await evictDurableObject(object(identity.id));
  expect(await paused()).toBe("ai");

  const next = await AgentDevice.come(identity, { paused: "everyone" });
  expect(await paused()).toBe("everyone");
  next.send({ type: "device_status", paused: null });
  await expect.poll(paused).toBeNull();
  next.close();
  await next.closed;
});
