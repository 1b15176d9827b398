/** Paths in addresses, names that are free, changes between texts, and the speed of uploads. */
import { describe, expect, test } from "vitest";
import { lineChanges } from "../../../web/src/features/files/edit/line-changes.ts";
import {
  folderMeant,
  joined,
  nameOf,
  parentOf,
  pathOf,
  plainPath,
  splatOf,
  stepsTo,
} from "../../../web/src/features/files/paths.ts";
import { encodingOf } from "../../../web/src/features/files/preview/head.ts";
import { numbered } from "../../../web/src/features/files/uploads/item.ts";
import { speedOf, withSample } from "../../../web/src/features/files/uploads/speed.ts";

describe("a path", () => {
  test.each(["/", "/home/ann", "/~odd", "/C", "C:/", "C:/Users/ann", "~", "/two\nlines/%41"])(
    "%j is the same after it stood in the address",
    (path) => expect(pathOf(splatOf(path))).toBe(path),
  );

  test("of Windows is written with slashes", () => {
    expect(plainPath("C:\\Users\\ann")).toBe("C:/Users/ann");
    expect(plainPath("c:")).toBe("c:/");
  });

  test("has folders above it, up to its root", () => {
    expect(stepsTo("/home/ann").map(({ path }) => path)).toEqual(["/", "/home", "/home/ann"]);
    expect(stepsTo("C:/Users").map(({ path }) => path)).toEqual(["C:/", "C:/Users"]);
    expect(parentOf("/home")).toBe("/");
    expect(parentOf("/")).toBeUndefined();
    expect(nameOf("C:/Users")).toBe("Users");
    expect(joined("/", "etc")).toBe("/etc");
  });
});

test("a folder that is typed is meant from the root, from home, or from where one is", () => {
  expect(folderMeant("/home/ann", "/etc/")).toBe("/etc");
  expect(folderMeant("/home/ann", "~/docs")).toBe("~/docs");
  expect(folderMeant("/home/ann", "docs/")).toBe("/home/ann/docs");
  expect(folderMeant("/home/ann", "~odd")).toBe("/home/ann/~odd");
  expect(folderMeant("C:/Users", "D:\\data")).toBe("D:/data");
});

test("a name that is taken gets a number before its ending", () => {
  expect(numbered("report.pdf", 1)).toBe("report.pdf");
  expect(numbered("report.pdf", 2)).toBe("report (2).pdf");
  expect(numbered("a.b/Makefile", 3)).toBe("a.b/Makefile (3)");
  expect(numbered("photos/.hidden", 2)).toBe("photos/.hidden (2)");
});

test("changes between texts are the fewest lines, with a few around them", () => {
  const before = ["a", "b", "c", "d", "e", "f", "g", "h"].join("\n");
  const after = ["a", "b", "c", "d", "E", "f", "new", "g", "h"].join("\n");
  expect(lineChanges(before, after)).toBe(
    ["@@ -2,7 +2,8 @@", " b", " c", " d", "-e", "+E", " f", "+new", " g", " h"].join("\n"),
  );
  expect(lineChanges("x", "x")).toBe("@@ -1,1 +1,1 @@\n x");
});

test("the speed is that of the last seconds", () => {
  let samples = withSample([], { at: 0, bytes: 0 });
  expect(speedOf(samples)).toBeUndefined();
  for (let at = 1000; at <= 20_000; at += 1000)
    samples = withSample(samples, { at, bytes: at < 10_000 ? 0 : at * 2 });
  expect(samples.length).toBeLessThan(10);
  expect(speedOf(samples)).toBe(2000);
});

test("text is told from other bytes, in its encoding", () => {
  const head = (bytes: number[], size = bytes.length) => ({
    bytes: new Uint8Array(bytes),
    size,
    etag: undefined,
  });
  expect(encodingOf(head([0x61, 0xc3, 0xa9]))).toBe("utf-8");
  expect(encodingOf(head([0x61, 0xc3], 10))).toBe("utf-8");
  expect(encodingOf(head([0x61, 0xc3]))).toBe("windows-1252");
  expect(encodingOf(head([0xff, 0xfe, 0x61, 0]))).toBe("utf-16le");
  expect(encodingOf(head([0x61, 0]))).toBeUndefined();
  expect(encodingOf(head([0xff, 0xd8, 0x01]))).toBeUndefined();
});
