/** Two agents with one identity, as after a disk was cloned: each ends the other's connection, and the owner is told. */
import { runInDurableObject } from "cloudflare:test";
import type { DeviceView, EventList } from "@matrx/shared/api.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { afterEach, expect, it, vi } from "vitest";
import { AgentDevice } from "../helpers/device.ts";
import { type Home, home, object } from "../helpers/home.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** Another agent takes the place of this one, which answers the close as a living one does (the runtime may be faster). */
async function takeOver({ identity }: Home, former: AgentDevice): Promise<AgentDevice> {
  const next = await AgentDevice.come(identity);
  expect((await former.closed).code).toBe(4000);
  former.close(4000);
  return next;
}

const eventsOf = async ({ person, identity }: Home) =>
  (await (await person.ask(`/v1/devices/${identity.id}/events`)).json<EventList>()).events;

const alertsOf = async ({ person, identity }: Home) =>
  (await (await person.ask(`/v1/devices/${identity.id}`)).json<DeviceView>()).alerts;

it("is told after three take-overs, once, and is over when there are no more", async () => {
  const house = await home();
  let device = house.device;
  for (const _ of "12") device = await takeOver(house, device);
  expect(await eventsOf(house)).toEqual([]);
  for (const _ of "345") device = await takeOver(house, device);
  await expect
    .poll(() => eventsOf(house))
    .toMatchObject([
      {
        event_type: "identity_shared",
        severity: "warning",
        open: true,
        data: { hint: expect.stringContaining("matrx pair --replace --name NAME") },
      },
    ]);
  expect(await alertsOf(house)).toBe(1);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + TIMES.takeOversWithin + 1000 });
  await runInDurableObject(object(house.identity.id), (instance) => instance.alarm());
  expect(await alertsOf(house)).toBe(0);
  expect((await eventsOf(house)).map(({ resolved }) => resolved)).toEqual([false, true]);
});

it("is not told of take-overs far apart", async () => {
  const house = await home();
  let device = house.device;
  for (const n of [1, 2, 3, 4]) {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + n * TIMES.takeOversWithin });
    device = await takeOver(house, device);
    vi.useRealTimers();
  }
  expect(await eventsOf(house)).toEqual([]);
});
