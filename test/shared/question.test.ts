/** What a person decides on: nothing in it is hidden. */
import { expect, it } from "vitest";
import { questionSchema, visibleLine, visibleText } from "../../shared/question.ts";

it("writes out what could mislead, and keeps lines and letters", () => {
  expect(visibleText("rm \u202Etxt.exe\u200b")).toBe("rm \\u{202E}txt.exe\\u{200B}");
  expect(visibleText("\x1b[2Jls\r")).toBe("\\u{1B}[2Jls\\u{D}");
  expect(visibleText("a\u00a0b\u3164\u{e0041}\ud800")).toBe("a\\u{A0}b\\u{3164}\\u{E0041}\\u{D800}");
  expect(visibleText("one\n\ttwo é 漢字 😀")).toBe("one\n\ttwo é 漢字 😀");
  expect(visibleLine("one\ntwo\t!", 100)).toBe("one\\ntwo\\t!");
  expect(visibleLine("12345", 4)).toBe("123…");
});

it("does so in every text of a question, whoever made it", () => {
  const odd = "a\u202Eb";
  const question = questionSchema.parse({
    ...{ summary: `${odd}\nc`, tool: odd, effect: "execute", diff: odd, url: odd, app: odd, input: odd },
    ...{ paths: [{ path: odd, intent: odd }], warnings: [odd] },
    command: { text: odd, cwd: odd, sandbox: true, readable: [odd], writable: [odd], network: [odd] },
  });
  expect(JSON.stringify(question)).not.toContain("\u202E");
  expect(question.summary).toBe("a\\u{202E}b\\nc");
  // Nothing is escaped twice.
  expect(questionSchema.parse(question)).toEqual(question);
});
