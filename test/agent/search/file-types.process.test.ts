/** Types of files are those of the ripgrep that we bring along. */
import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { FILE_TYPES, fileType } from "../../../agent/search/file-types.ts";
import { findRipgrep } from "../../../agent/search/find-ripgrep.ts";

it("have the globs that ripgrep has for them", async () => {
  const ripgrep = await findRipgrep();
  if (ripgrep?.from !== "package") throw new Error("ripgrep comes with the agent's packages");
  const lines = execFileSync(ripgrep.file, ["--no-config", "--type-list"], { encoding: "utf8" })
    .trim()
    .split("\n");
  const theirs = new Map(lines.map((line) => line.split(": ") as [string, string]));
  for (const [name, globs] of Object.entries(FILE_TYPES))
    expect(globs, name).toBe(theirs.get(name)?.replaceAll(", ", " "));
});

it("say of a path whether it is one of theirs, in any folder", () => {
  const isC = fileType("c", false).matches;
  expect(["a.c", "x/y.h", "x/a.H", "in.c.in"].filter(isC)).toHaveLength(4);
  expect(["a.cpp", "c", "x.c/a.txt", ".a.c", ".x/a.c"].filter(isC)).toEqual([]);
  expect([".a.c", ".x/a.c"].filter(fileType("c", true).matches)).toHaveLength(2);
});
