/** Exchanges of a visit take turns: so many at once, the others in order, none lost. */
import { expect, it, onTestFinished, vi } from "vitest";
import { EXCHANGES_AT_ONCE, SILENT_FOR, Turns } from "../../../worker/device/streams/turns.ts";

it("lets so many through at once, the next when one has ended, and each visit by itself", async () => {
  const turns = new Turns();
  const held = await Promise.all(Array.from({ length: EXCHANGES_AT_ONCE }, () => turns.take("a")));
  const order: number[] = [];
  const waiting = [1, 2].map(async (which) => {
    const turn = await turns.take("a");
    order.push(which);
    return turn;
  });
  (await turns.take("b")).end();
  expect(order).toEqual([]);
  held[0]?.end();
  const next = await waiting[0];
  expect(order).toEqual([1]);
  next?.end();
  (await waiting[1])?.end();
  for (const turn of held.slice(1)) turn.end();
  await Promise.all(Array.from({ length: EXCHANGES_AT_ONCE }, () => turns.take("a")));
});

it("refuses more when too many wait", async () => {
  const turns = new Turns();
  const taken = Array.from({ length: EXCHANGES_AT_ONCE + 512 }, () => turns.take("a"));
  await expect(turns.take("a")).rejects.toMatchObject({ code: "RATE_LIMITED" });
  for (const take of taken) (await take).end();
  (await turns.take("a")).end();
});

it("gives up what has been silent the longest, once others wait and only after half a minute", async () => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const turns = new Turns();
  const given: number[] = [];
  const held = await Promise.all(Array.from({ length: EXCHANGES_AT_ONCE }, () => turns.take("a")));
  for (const [which, turn] of held.entries())
    turn.begin(() => {
      given.push(which);
      turn.end();
    });
  await vi.advanceTimersByTimeAsync(SILENT_FOR / 2);
  for (const turn of held.slice(2)) turn.active();
  await vi.advanceTimersByTimeAsync(SILENT_FOR);
  held[0]?.active();
  expect(given).toEqual([]);
  await turns.take("a");
  expect(given).toEqual([1]);
  const next = turns.take("a");
  expect(given).toEqual([1, 2]);
  for (const turn of held.slice(3)) turn.active();
  const last = turns.take("a");
  await vi.advanceTimersByTimeAsync(SILENT_FOR - 1);
  expect(given).toEqual([1, 2]);
  await vi.advanceTimersByTimeAsync(1);
  expect(given).toHaveLength(3);
  await Promise.all([next, last]);
});

it("gives up none that has not begun", async () => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const turns = new Turns();
  const held = await Promise.all(Array.from({ length: EXCHANGES_AT_ONCE }, () => turns.take("a")));
  let isThrough = false;
  void turns.take("a").then(() => {
    isThrough = true;
  });
  await vi.advanceTimersByTimeAsync(2 * SILENT_FOR);
  expect(isThrough).toBe(false);
  held[0]?.begin(() => held[0]?.end());
  await vi.advanceTimersByTimeAsync(SILENT_FOR);
  expect(isThrough).toBe(true);
});
