/** Samples under credit, on the connection that an agent's calls share. */
import { expect, test } from "vitest";
import type { Sample } from "../../../agent/metrics/sample.ts";
import { serveSamples } from "../../../agent/metrics/serve-samples.ts";
import { KiB, streamScene } from "../relay/stream-relay.ts";

test("who gives no credit gets nothing, and then the newest; who leaves ends it", async () => {
  const { serve, first, second } = await streamScene();
  let newest = 0;
  let ended = false;
  const served = serve(
    serveSamples(async function* (signal) {
      try {
        for (;;) {
          signal.throwIfAborted();
          // The number stands for the time; what is padded is as large as a sample of a machine with many disks.
          yield { at: String(++newest), padding: "x".repeat(4 * KiB) } as unknown as Sample;
        }
      } finally {
        ended = true;
      }
    }),
    { interactive: true, credit: 32 * KiB },
  );
  const numbers = () =>
    first
      .told()
      .join("")
      .match(/(?<="at":")\d+/g)
      ?.map(Number) ?? [];
  await expect.poll(() => numbers().length).toBe(7);
  const before = newest;
  first.credit(8 * KiB, 1);
  await expect.poll(() => numbers().length).toBeGreaterThan(8);
  expect(before).toBe(8);
  expect(second).toHaveLength(0);
  first.reset(1);
  await served;
  expect(ended).toBe(true);
});
