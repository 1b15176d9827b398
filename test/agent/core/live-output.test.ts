import { setTimeout as sleep } from "node:timers/promises";
import { LIMITS } from "@matrx/shared/limits.ts";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { LiveOutput, type OutputPiece } from "../../../agent/core/live-output.ts";

function gather() {
  const pieces: OutputPiece[] = [];
  return { pieces, live: new LiveOutput((piece) => pieces.push(piece)) };
}

test("the first bytes leave at once, those that follow are gathered", () => {
  const { live, pieces } = gather();
  live.write("stdout", 0, "a");
  expect(pieces).toEqual([{ channel: "stdout", offset: 0, data: "a" }]);
  for (let at = 1; at < 100; at++) live.write("stdout", at, "b");
  expect(pieces).toHaveLength(1);
  live.close();
  expect(pieces).toHaveLength(2);
  expect(pieces[1]).toEqual({ channel: "stdout", offset: 1, data: "b".repeat(99) });
});

test("gathered bytes leave by themselves", async () => {
  const { live, pieces } = gather();
  live.write("stdout", 0, "a");
  live.write("stdout", 1, "b");
  await sleep(50);
  expect(pieces).toHaveLength(2);
  live.close();
});

test("nothing leaves after the end", () => {
  const { live, pieces } = gather();
  live.close();
  live.write("stdout", 0, "late");
  expect(pieces).toEqual([]);
});

test("whatever is written, every byte has its place, no frame is too large, no character is cut", () => {
  const writes = fc.array(
    fc.tuple(
      fc.constantFrom("stdout" as const, "stderr" as const),
      fc.oneof(
        fc.string({ unit: "grapheme" }),
        fc.nat(40_000).map((n) => "\u{1f600}\u0000é".repeat(n / 3)),
      ),
    ),
    { maxLength: 12 },
  );
  void fc.assert(
    fc.property(writes, (all) => {
      const { live, pieces } = gather();
      let offset = 0;
      for (const [channel, data] of all) {
        live.write(channel, offset, data);
        offset += Buffer.byteLength(data);
      }
      live.close();
      let next = 0;
      for (const piece of pieces) {
        expect(piece.offset).toBe(next);
        expect(piece.data.isWellFormed()).toBe(true);
        expect(Buffer.byteLength(JSON.stringify(piece))).toBeLessThan(LIMITS.outputFrameBytes - 1024);
        next += Buffer.byteLength(piece.data);
      }
      expect(next).toBe(offset);
      for (const wanted of ["stdout", "stderr"] as const) {
        const sent = pieces.filter(({ channel }) => channel === wanted).map(({ data }) => data);
        const written = all.filter(([channel]) => channel === wanted).map(([, data]) => data);
        expect(sent.join("")).toBe(written.join(""));
      }
    }),
    { numRuns: 50 },
  );
});
