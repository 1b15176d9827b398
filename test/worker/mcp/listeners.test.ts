/** Who is told that an object's tools may have changed. */
import { makeGrantId } from "@matrx/shared/ids.ts";
import { expect, it } from "vitest";
import { ToolListeners } from "../../../worker/mcp/listeners.ts";
import type { Kv } from "../../../worker/storage/watched.ts";

const MINUTE = 60_000;

function listeners() {
  const rows = new Map<string, unknown>();
  const told: string[] = [];
  let writes = 0;
  const kv = {
    get: (key: string) => rows.get(key),
    put: (key: string, value: unknown) => {
      writes += 1;
      rows.set(key, value);
    },
  } as Kv;
  const objects = {
    getByName: (grant: string) => ({ toolsChanged: async () => void told.push(grant) }),
  };
  return { told, writes: () => writes, make: () => new ToolListeners(kv, objects) };
}

it("are told while they listen, also after the object has slept", () => {
  const { told, make } = listeners();
  const [first, second] = [makeGrantId(), makeGrantId()];
  const awake = make();
  awake.add(first, 5 * MINUTE, 0);
  awake.add(second, 30 * MINUTE, 0);
  make().tell(4 * MINUTE);
  expect(told.splice(0)).toEqual([first, second]);
  make().tell(20 * MINUTE);
  expect(told).toEqual([second]);
});

it("cost a write a minute at most, however often a client asks", () => {
  const { told, writes, make } = listeners();
  const grant = makeGrantId();
  const awake = make();
  for (let second = 0; second < 60; second++) awake.add(grant, 5 * MINUTE + second * 1000, second * 1000);
  expect(writes()).toBe(1);
  awake.add(grant, 7 * MINUTE, 2 * MINUTE);
  expect(writes()).toBe(2);
  awake.tell(7 * MINUTE - 1);
  expect(told).toEqual([grant]);
});

it("make room for newer ones once there are many", () => {
  const { told, make } = listeners();
  const grants = Array.from({ length: 70 }, () => makeGrantId());
  const awake = make();
  for (const grant of grants) awake.add(grant, 5 * MINUTE, 0);
  awake.tell(0);
  expect(told).toEqual(grants.slice(-64));
});
