/** Keys of the terminal's page: its own, those of the bar for fingers, and what is pasted. */
import { beforeEach, expect, test } from "vitest";
import { openTerminals, terminalMessage } from "../../../web/src/features/terminal/messages.ts";
import {
  arrowKey,
  releaseModifiers,
  tapModifier,
  useModifiers,
  withModifiers,
} from "../../../web/src/features/terminal/modifiers.ts";
import { linesRun, pasteable } from "../../../web/src/features/terminal/pasting.ts";

beforeEach(releaseModifiers);

test("a modifier holds for one key, and a double tap locks it until it is tapped again", () => {
  tapModifier("ctrl", 0);
  expect(withModifiers("c")).toBe("\u0003");
  expect(withModifiers("c")).toBe("c");
  tapModifier("ctrl", 1_000);
  tapModifier("ctrl", 1_200);
  expect([withModifiers("a"), withModifiers("["), withModifiers(" ")]).toEqual(["\u0001", "\u001b", "\0"]);
  expect(useModifiers.getState().ctrl).toBe("locked");
  tapModifier("ctrl", 2_000);
  expect(withModifiers("a")).toBe("a");
  tapModifier("alt", 3_000);
  tapModifier("alt", 4_000);
  expect(withModifiers("b")).toBe("b");
});

test("both together, and only with one character: what a terminal answers stays as it is", () => {
  tapModifier("alt", 0);
  expect(withModifiers("\u001b[?1;2c")).toBe("\u001b[?1;2c");
  expect(withModifiers("b")).toBe("\u001bb");
  tapModifier("ctrl", 0);
  tapModifier("alt", 1);
  expect(withModifiers("x")).toBe("\u001b\u0018");
});

test("arrows are as the program wants them, and carry the modifiers", () => {
  expect(arrowKey("A", false)).toBe("\u001b[A");
  expect(arrowKey("A", true)).toBe("\u001bOA");
  tapModifier("ctrl", 0);
  expect(arrowKey("C", true)).toBe("\u001b[1;5C");
  expect(arrowKey("C", false)).toBe("\u001b[C");
});

test("what is pasted has no keys in it, and several lines are counted where the shell would run them", () => {
  expect(pasteable("a\r\nb\u001b[201~rm -rf\u0007\tc\u009b")).toBe("a\nb[201~rm -rf\tc");
  expect(linesRun("a\nb", false)).toBe(1);
  expect(linesRun("a\nb\n", false)).toBe(2);
  expect(linesRun("a\nb\n", true)).toBe(0);
});

test("messages and lists of another release are read as far as they are known", () => {
  const attached = {
    type: "attached",
    sequence: 4711,
    cols: 80,
    rows: 24,
    snapshot: true,
    snapshot_bytes: 310,
  };
  expect(terminalMessage({ ...attached, write: true })).toEqual(attached);
  expect(terminalMessage({ ...attached, cols: 0 })).toBeUndefined();
  expect(terminalMessage({ type: "gap", from: 9, to: 1 })).toBeUndefined();
  expect(terminalMessage({ type: "later" })).toBeUndefined();
  expect(terminalMessage({ type: "viewers", viewers: [5, { label: "owner", write: 1 }] })).toEqual({
    ...{ type: "viewers", viewers: [{ label: "owner", write: false }] },
  });
  expect(
    openTerminals({ terminals: [null, { terminal: "t", running: true }, { terminal: "u" }] }),
  ).toMatchObject([{ terminal: "t", own: true, shell: "shell", viewers: 0 }]);
  expect(openTerminals("x")).toEqual([]);
});
