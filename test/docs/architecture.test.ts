/** docs/architecture.md names files and folders that are there. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/tree.ts";

const PAGE = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
const PATHS = [
  ...PAGE.matchAll(/(?<![\w./-])(?:agent|worker|shared|web|docs|test)\/[\w./-]*(?:\.\w+|\/)/g),
].map(([path]) => path);

test("every path on the page exists", () => {
  expect(PATHS.length).toBeGreaterThan(40);
  expect(PATHS.filter((path) => !existsSync(join(ROOT, path)) && path !== "agent/tools/NAME.ts")).toEqual([]);
});

test.each(["agent", "worker", "worker/device"])("every room of %s is on the page", (house) => {
  const rooms = readdirSync(join(ROOT, house), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !["node_modules", "bin", "dist"].includes(entry.name))
    .map(({ name }) => name);
  expect(rooms.filter((room) => !PAGE.includes(`${room}/`))).toEqual([]);
});
