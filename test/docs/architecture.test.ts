/** docs/architecture.md names files and folders that are there, and imports point down its list. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
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

test("no file imports itself by way of others", () => {
  const graph = new Map(sourceFiles().map((file) => [file, importsOf(file)]));
  const circles: string[][] = [];
  const seen = new Set<string>();
  const visit = (file: string, way: string[]) => {
    if (way.includes(file)) return void circles.push([...way.slice(way.indexOf(file)), file]);
    if (seen.has(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...way, file]);
    seen.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  expect(graph.size).toBeGreaterThan(300);
  expect(circles).toEqual([]);
});

test.each([
  ["shared", ["agent", "worker"]],
  ["worker", ["agent"]],
  ["agent/core", ["agent/control", "agent/relay", "agent/local", "agent/cli", "agent/tools"]],
  ["agent/tools", ["agent/relay", "agent/local", "agent/cli"]],
  ["agent/control", ["agent/relay", "agent/local", "agent/cli", "agent/tools"]],
  ["agent/relay", ["agent/local", "agent/cli"]],
  ["agent/local", ["agent/relay", "agent/cli"]],
])("%s imports nothing of %s", (room, above) => {
  const upward = sourceFiles()
    .filter((file) => file.startsWith(`${room}/`))
    .flatMap((file) => importsOf(file).map((target) => `${file} -> ${target}`))
    .filter((arrow) => above.some((other) => arrow.includes(`-> ${other}/`)));
  expect(upward).toEqual([]);
});

function sourceFiles(): string[] {
  return ["agent", "worker", "shared"].flatMap((house) =>
    readdirSync(join(ROOT, house), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !path.includes("node_modules"))
      .map((path) => posix.join(house, path.replaceAll("\\", "/"))),
  );
}

/** Files of the repository that a file imports, types included. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(/(?:from|import) "((?:\.|@matrx\/shared\/)[^"]+\.ts)"/g)].map(([, path = ""]) =>
    path.startsWith(".") ? posix.join(posix.dirname(file), path) : path.replace("@matrx/shared/", "shared/"),
  );
}
