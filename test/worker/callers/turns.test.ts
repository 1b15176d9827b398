/** Exchanges of a visit take turns: so many at once, the others in order, none lost. */
import { expect, it } from "vitest";
import { EXCHANGES_AT_ONCE, Turns } from "../../../worker/device/callers/turns.ts";

it("lets so many through at once, the next when one has ended, and each visit by itself", async () => {
  const turns = new Turns();
  const ends = await Promise.all(Array.from({ length: EXCHANGES_AT_ONCE }, () => turns.take("a")));
  const order: number[] = [];
  const waiting = [1, 2].map(async (which) => {
    const end = await turns.take("a");
    order.push(which);
    return end;
  });
  (await turns.take("b"))();
  expect(order).toEqual([]);
  ends[0]?.();
  const next = await waiting[0];
  expect(order).toEqual([1]);
  next?.();
  (await waiting[1])?.();
  for (const end of ends.slice(1)) end();
  await Promise.all(Array.from({ length: EXCHANGES_AT_ONCE }, () => turns.take("a")));
});

it("refuses more when too many wait", async () => {
  const turns = new Turns();
  const taken = Array.from({ length: EXCHANGES_AT_ONCE + 512 }, () => turns.take("a"));
  await expect(turns.take("a")).rejects.toMatchObject({ code: "RATE_LIMITED" });
  for (const take of taken) (await take)();
  (await turns.take("a"))();
});
