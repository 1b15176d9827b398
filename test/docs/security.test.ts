/** docs/security.md promises nothing without a test: each one that it names is there. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const PAGE = readFileSync("docs/security.md", "utf8");

/** Files in backticks, each with the quoted titles that follow it. */
const NAMED = [...PAGE.matchAll(/`(test\/[^`]+\.ts)`((?:, "[^"\n]+")*)/g)].map(
  ([, file = "", titles = ""]) => ({
    file,
    titles: [...titles.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => title),
  }),
);

describe("the tests that docs/security.md names", () => {
  it("are many", () => {
    expect(NAMED.length).toBeGreaterThan(20);
  });

  it.each(NAMED)("$file has them", ({ file, titles }) => {
    expect(existsSync(file)).toBe(true);
    const text = readFileSync(file, "utf8");
    // A title may be shortened by three dots.
    for (const title of titles) expect(text).toContain(title.replace(/ ?\.\.\.$/, ""));
  });
});
