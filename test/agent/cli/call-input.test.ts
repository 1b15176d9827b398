/** What is typed for a tool's input, and what is said of a slip in it. */
import { expect, test } from "vitest";
import { readInput } from "../../../agent/cli/client/call-input.ts";

const read = (...words: string[]) => readInput(words, false, async () => undefined);

test("an object is the input", async () => {
  expect(await read('{"command":"ls"}')).toEqual({ command: "ls" });
});

test.each([
  ["{bad", "The input is not JSON"],
  [`{"a":${"[".repeat(80)}${"]".repeat(80)}}`, /^The input nests deeper than \d+ levels$/],
  ["command", '"command" is neither JSON nor key=value'],
])("a slip is said in the words of the line that was typed: %s", async (word, message) => {
  await expect(read(word)).rejects.toMatchObject({ code: "INVALID_PARAMETERS" });
  await expect(read(word)).rejects.toThrow(message);
});
