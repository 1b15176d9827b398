import { pathIn } from "@matrx/shared/caller/files/path.ts";
import { expect, it } from "vitest";

/** A Request of the relay's platform has its URL as it was sent; others resolve it first. */
const pathOf = (sent: string) =>
  pathIn({ url: `https://relay.example/v1/devices/home/files/${sent}` } as Request);

it.each([
  ["home/ann/a.txt", "/home/ann/a.txt"],
  ["~/a%20b%23?inline=true", "~/a b#"],
  ["C:/a.txt", "C:/a.txt"],
  ["a%0Ab", "/a\nb"],
  ["../a.txt", "/../a.txt"],
  ["a/%2e%2e/%2E%2e/b", "/a/../../b"],
  ["a/../../../other/files/etc/passwd", "/a/../../../other/files/etc/passwd"],
])("%s is %s", (sent, path) => {
  expect(pathOf(sent)).toBe(path);
});

it("what is not UTF-8 is refused", () => {
  expect(() => pathOf("a%ff")).toThrow(expect.objectContaining({ code: "INVALID_PARAMETERS" }));
});
