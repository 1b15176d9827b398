/** docs/architecture.md names files and folders that are there, and imports point down its list. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/tree.ts";

const PAGE = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
const PATHS = [
  ...PAGE.matchAll(/(?<![\w./-])(?:agent|client|worker|shared|web|docs|test)\/[\w./-]*(?:\.\w+|\/)/g),
].map(([path]) => path);

test("every path on the page exists", () => {
  expect(PATHS.length).toBeGreaterThan(40);
  expect(PATHS.filter((path) => !existsSync(join(ROOT, path)) && path !== "agent/tools/NAME.ts")).toEqual([]);
});

test.each(["agent", "client", "worker", "worker/device"])("every room of %s is on the page", (house) => {
  const rooms = readdirSync(join(ROOT, house), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !["node_modules", "bin", "dist"].includes(entry.name))
    .map(({ name }) => name);
  expect(rooms.filter((room) => !PAGE.includes(`${room}/`))).toEqual([]);
});

/** The rows of "Which way imports point": the folder, and its rooms from the ground up. */
const ROWS = [...PAGE.matchAll(/^\| (?:`([\w/-]+)\/`|the repository) \| ((?:`[\w-]+` ?)+) \|$/gm)].map(
  ([, folder = "", rooms = ""]) => ({
    folder,
    rooms: [...rooms.matchAll(/`([\w-]+)`/g)].map(([, room = ""]) => room),
  }),
);

test.each(ROWS)("rooms of $folder/ import only from rooms left of them", ({ folder, rooms }) => {
  const files = sourceFiles().filter((file) => file.startsWith(folder && `${folder}/`));
  const arrows = files.flatMap((file) =>
    importsOf(file)
      .filter(
        (target) =>
          target.startsWith(folder && `${folder}/`) && roomOf(target, folder) !== roomOf(file, folder),
      )
      .map((target) => ({
        from: roomOf(file, folder),
        to: roomOf(target, folder),
        arrow: `${file} -> ${target}`,
      })),
  );
  const folders = new Set(files.map((file) => roomOf(file, folder)).filter((room) => !room.includes(".")));
  expect([...folders].filter((room) => !rooms.includes(room))).toEqual([]);
  expect(rooms.filter((room) => !folders.has(room))).toEqual([]);
  expect(arrows.length).toBeGreaterThan(rooms.length);
  const floor = (room: string) => rooms.indexOf(room);
  const upward = arrows.filter(({ from, to }) => floor(from) !== -1 && floor(from) < floor(to));
  const mend = "move what is needed to a room further left, or have it passed in";
  expect(
    upward.map(({ arrow }) => arrow),
    mend,
  ).toEqual([]);
  const graph = new Map<string, Set<string>>();
  for (const { from, to } of arrows) graph.set(from, (graph.get(from) ?? new Set()).add(to));
  expect(circlesOf(graph), mend).toEqual([]);
});

/** The part of a path below a folder that stands in it: a room, or a file that is one by itself. */
function roomOf(path: string, folder: string): string {
  return path.slice(folder === "" ? 0 : folder.length + 1).split("/")[0] ?? "";
}

function circlesOf(graph: ReadonlyMap<string, Iterable<string>>): string[][] {
  const circles: string[][] = [];
  const seen = new Set<string>();
  const visit = (node: string, way: string[]) => {
    if (way.includes(node)) return void circles.push([...way.slice(way.indexOf(node)), node]);
    if (seen.has(node)) return;
    for (const next of graph.get(node) ?? []) visit(next, [...way, node]);
    seen.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return circles;
}

const HOUSES = ["shared", "client", "worker", "agent", "web/src", "scripts", "bench"];

function sourceFiles(): string[] {
  return HOUSES.flatMap((house) =>
    readdirSync(join(ROOT, house), { recursive: true, encoding: "utf8" })
      .filter((path) => /\.tsx?$/.test(path) && !path.includes("node_modules"))
      .map((path) => posix.join(house, path.replaceAll("\\", "/"))),
  );
}

/** Files of the repository that a file imports, types and pages that are loaded later included. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(/(?:from|import) ?\(?"((?:\.|@matrx\/(?:shared|client)\/)[^"]+\.tsx?)"/g)].map(
    ([, path = ""]) =>
      path.startsWith(".") ? posix.join(posix.dirname(file), path) : path.replace("@matrx/", ""),
  );
}
