/** Patches that another program made of any two texts, applied by ours. */
import { createTwoFilesPatch } from "diff";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyHunks } from "../../../agent/edit/apply-hunks.ts";
import { unitTextOf } from "../../../agent/edit/code-units.ts";
import { parsePatch } from "../../../agent/edit/prepared-patch.ts";

const line = fc.constantFrom("a", "b", "c", "", "  a", "-x", "+x", "@@ x", "\\ x", "--- x", "*** x", "ü");
/** Lines that also differ in their ends alone. */
const oddLine = fc.oneof(line, fc.constantFrom("a\r", "b\r", "a ", "\r", "-- ", " "));

const textOf = (one: fc.Arbitrary<string>) =>
  fc.tuple(fc.array(one, { maxLength: 25 }), fc.boolean()).map(([lines, ended]) =>
    lines
      .map((text) => `${text}\n`)
      .join("")
      .slice(0, ended ? undefined : -1),
  );
const text = textOf(line);

/** Texts that have much in common. */
const pairOf = (one: fc.Arbitrary<string>) =>
  fc
    .tuple(
      textOf(one),
      fc.array(fc.record({ at: fc.nat(30), remove: fc.nat(3), add: fc.array(one, { maxLength: 3 }) }), {
        maxLength: 4,
      }),
      fc.boolean(),
    )
    .map(([before, changes, ended]) => {
      const lines = before.split("\n");
      for (const { at, remove, add } of changes) lines.splice(at, remove, ...add);
      const after = lines.join("\n");
      return { before, after: ended && after !== "" && !after.endsWith("\n") ? `${after}\n` : after };
    });
const pair = pairOf(line);

function applied(before: string, patch: string): string {
  const [file] = parsePatch(patch);
  if (file?.kind !== "update") throw new Error(`the patch is read as ${file?.kind}`);
  const text = unitTextOf(Buffer.from(before), "utf-8", 0);
  const { units: after } = applyHunks(text, file.hunks, { shown: "f", mayQuote: true });
  return Buffer.from(after, "latin1").toString("utf8");
}

const unified = (before: string, after: string, context: number) =>
  createTwoFilesPatch("f", "f", before, after, "", "", { context });

describe("a unified diff of any two texts", () => {
  it("makes the one of the other", () => {
    fc.assert(
      fc.property(pairOf(oddLine), fc.integer({ min: 1, max: 4 }), ({ before, after }, context) => {
        fc.pre(before !== after && before !== "");
        // Without any line of the old text a hunk does not show its place.
        fc.pre(!/^@@ -\d+,0/m.test(unified(before, after, context)));
        expect(applied(before, unified(before, after, context))).toBe(after);
      }),
      { numRuns: 1500 },
    );
  });

  it("with other line ends in the file changes no other line's", () => {
    fc.assert(
      fc.property(pair, ({ before, after }) => {
        fc.pre(before !== after && before !== "" && !/^@@ -\d+,0/m.test(unified(before, after, 3)));
        const result = applied(before.replaceAll("\n", "\r\n"), unified(before, after, 3));
        const ends = /\n/.test(before) ? "\r\n" : "\n";
        expect(result).toBe(after.replaceAll("\n", ends));
      }),
      { numRuns: 500 },
    );
  });

  it("with wrong line numbers does the same, or is refused", () => {
    fc.assert(
      fc.property(pair, fc.integer({ min: 100, max: 200 }), ({ before, after }, shift) => {
        fc.pre(before !== after && before !== "");
        const patch = unified(before, after, 3);
        fc.pre(!/^@@ -\d+,0/m.test(patch));
        const moved = patch.replace(/^@@ -(\d+)/gm, (_, start) => `@@ -${Number(start) + shift}`);
        let result: string | undefined;
        try {
          result = applied(before, moved);
        } catch (error) {
          expect(error).toMatchObject({ code: "TOOL_EXECUTION_FAILED" });
        }
        if (result !== undefined) expect(result).toBe(after);
      }),
      { numRuns: 1500 },
    );
  });

  it("with wrong counts does the same, or is refused", () => {
    const counts = fc.tuple(fc.nat(12), fc.nat(12));
    fc.assert(
      fc.property(pair, counts, ({ before, after }, [old, now]) => {
        fc.pre(before !== after && before !== "");
        const patch = unified(before, after, 3);
        fc.pre(!/^@@ -\d+,0/m.test(patch));
        const wrong = patch.replace(
          /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/gm,
          `@@ -$1,${old} +$2,${now} @@`,
        );
        let result: string | undefined;
        try {
          result = applied(before, wrong);
        } catch (error) {
          expect(error).toMatchObject({ hop: "tool" });
        }
        if (result !== undefined) expect(result).toBe(after);
      }),
      { numRuns: 1500 },
    );
  });

  it("does not fit any other text by chance: all lines that it names stand there", () => {
    fc.assert(
      fc.property(pair, text, ({ before, after }, other) => {
        fc.pre(before !== after && before !== "" && other !== before);
        const patch = unified(before, after, 3);
        fc.pre(!/^@@ -\d+,0/m.test(patch));
        try {
          const result = applied(other, patch);
          const [file] = parsePatch(patch);
          const hunks = file?.kind === "update" ? file.hunks : [];
          for (const { lines } of hunks) {
            const said = (kind: "old" | "new") =>
              lines
                .filter((one) => one.kind !== (kind === "old" ? "new" : "old"))
                .map((one) => one.text)
                .join("\n");
            expect(`\n${other}\n`).toContain(`\n${said("old")}\n`);
            if (lines.some((one) => one.kind !== "old"))
              expect(`\n${result}\n`).toContain(`\n${said("new")}\n`);
          }
        } catch (error) {
          if (!(error instanceof Error && "code" in error)) throw error;
        }
      }),
      { numRuns: 500 },
    );
  });
});
