/** A slow, separate way to tell where a path leads: folders, files and links in memory, one name after the other. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";

export type Node =
  | { kind: "file" }
  | { kind: "folder"; entries: Map<string, Node> }
  | { kind: "link"; target: readonly string[]; absolute: boolean };

type Folder = Extract<Node, { kind: "folder" }>;

export interface Planned {
  readonly at: readonly string[];
  readonly kind: Node["kind"];
  readonly target: readonly string[];
  readonly absolute: boolean;
}

const NAMES = ["a", "b", "c"] as const;
const name = fc.constantFrom(...NAMES);
const step = fc.constantFrom(...NAMES, ...NAMES, "..", ".");

export const steps = fc.array(step, { maxLength: 6 });

export const plans: fc.Arbitrary<Planned[]> = fc.array(
  fc.record({
    at: fc.array(name, { minLength: 1, maxLength: 3 }),
    kind: fc.constantFrom("folder", "folder", "file", "link", "link"),
    target: fc.array(step, { minLength: 1, maxLength: 4 }),
    absolute: fc.boolean(),
  }),
  { minLength: 1, maxLength: 14 },
);

/** Where a plan has two things at one path, or something below a file or link, the first one stands. */
export function grow(planned: readonly Planned[]): Folder {
  const root: Folder = { kind: "folder", entries: new Map() };
  for (const { at, kind, target, absolute } of planned) {
    let folder: Node = root;
    for (const part of at.slice(0, -1)) {
      if (folder.kind !== "folder") break;
      const next: Node = folder.entries.get(part) ?? { kind: "folder", entries: new Map() };
      folder.entries.set(part, next);
      folder = next;
    }
    const last = at.at(-1) ?? "";
    if (folder.kind !== "folder" || folder.entries.has(last)) continue;
    if (kind === "link") folder.entries.set(last, { kind, target, absolute });
    else folder.entries.set(last, kind === "file" ? { kind } : { kind, entries: new Map() });
  }
  return root;
}

export function makeOnDisk(folder: Folder, at: string, root: string): void {
  mkdirSync(at, { recursive: true });
  for (const [entry, node] of folder.entries) {
    const place = path.join(at, entry);
    if (node.kind === "folder") makeOnDisk(node, place, root);
    else if (node.kind === "file") writeFileSync(place, "x");
    else symlinkSync(`${node.absolute ? `${root}/` : ""}${node.target.join("/")}`, place);
  }
}

/** All paths of a tree, links among them; the root as an empty one. */
export function pathsOf(folder: Folder, at: readonly string[] = []): string[][] {
  const below = [...folder.entries].flatMap(([entry, node]) =>
    node.kind === "folder" ? pathsOf(node, [...at, entry]) : [[...at, entry]],
  );
  return [[...at], ...below];
}

interface Walked {
  readonly way: readonly string[];
  /** Links on the way. */
  readonly links: readonly (readonly string[])[];
  /** Every entry that it looks at. */
  readonly seen: readonly (readonly string[])[];
  /** There is something at its end, within the tree. */
  readonly arrives: boolean;
}

function walk(root: Folder, parts: readonly string[]): Walked {
  const todo = [...parts];
  const links: string[][] = [];
  const seen: string[][] = [];
  let way: { entry: string; node: Node }[] = [];
  const names = () => way.map(({ entry }) => entry);
  while (todo.length > 0) {
    const part = todo.shift() ?? ".";
    const here = way.at(-1)?.node ?? root;
    const nowhere = { way: names(), links, seen, arrives: false };
    if (here.kind !== "folder") return nowhere;
    if (part === ".") continue;
    if (part === "..") {
      if (way.pop() === undefined) return nowhere;
      continue;
    }
    const node = here.entries.get(part);
    seen.push([...names(), part]);
    if (!node) return nowhere;
    if (node.kind !== "link") {
      way.push({ entry: part, node });
      continue;
    }
    links.push([...names(), part]);
    if (links.length > 30) return nowhere;
    if (node.absolute) way = [];
    todo.unshift(...node.target);
  }
  return { way: names(), links, seen, arrives: true };
}

/** The names that lead to it without any link; undefined: nothing is there, or it lies outside of the tree. */
export function leadsTo(root: Folder, parts: readonly string[]): readonly string[] | undefined {
  const { way, arrives } = walk(root, parts);
  return arrives ? way : undefined;
}

/** The links that are followed on the way there, as far as it goes. */
export function linksTo(root: Folder, parts: readonly string[]): readonly (readonly string[])[] {
  return walk(root, parts).links;
}

/** The entries that are looked at on the way there: folders, links, and what they lead through. */
export function seenOnTheWay(root: Folder, parts: readonly string[]): readonly (readonly string[])[] {
  return walk(root, parts).seen;
}

/** Dots taken away as they are written, before anything is looked at; undefined: it leaves the tree. */
export function withoutDots(parts: readonly string[]): string[] | undefined {
  const way: string[] = [];
  for (const part of parts) {
    if (part === "..") {
      if (way.pop() === undefined) return undefined;
    } else if (part !== ".") way.push(part);
  }
  return way;
}
