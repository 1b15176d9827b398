import { realpathSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Intent } from "../../../agent/core/gate.ts";
import { Files, type ResolvedPath } from "../../../agent/fs/access.ts";
import { closedPaths } from "../../helpers/protected-paths.ts";
import { type CallOptions, Workbench } from "../tools/workbench.ts";
import {
  grow,
  leadsTo,
  linksTo,
  makeOnDisk,
  pathsOf,
  plans,
  seenOnTheWay,
  steps,
  withoutDots,
} from "./model.ts";

/** A random tree on disk with random limits and one random protected place in it. */
const worlds = fc.record({ planned: plans, limits: fc.array(fc.nat(), { maxLength: 3 }), closed: fc.nat() });

type World = typeof worlds extends fc.Arbitrary<infer T> ? T : never;

const within = (place: readonly string[], folder: readonly string[]) =>
  folder.every((part, i) => place[i] === part);
const isBelow = (place: string, folder: string) => `${place}/`.startsWith(`${folder}/`);

async function build(bench: Workbench, run: number, { planned, limits, closed }: World) {
  const root = bench.at(`run-${run}`);
  const tree = grow(planned);
  makeOnDisk(tree, root, root);
  const paths = pathsOf(tree).filter((parts) => leadsTo(tree, parts) !== undefined);
  const pick = (index: number) => paths[index % paths.length] ?? [];
  const allowed = limits.map(pick);
  // Not mostly the root of all: everything would be closed.
  const shut = pick(closed).length > 0 ? pick(closed) : ["d"];
  const files = new Files({ protectedPaths: closedPaths(path.join(root, ...shut)) });
  const policy = { allowed_paths: allowed.map((parts) => path.join(root, ...parts)) };
  const access = await files.as({ session: { cwd: root }, rights: bench.admission({ policy }).rights });
  const roots = allowed.map((parts) => leadsTo(tree, parts) ?? []);
  const closedTo = leadsTo(tree, shut) ?? shut;
  return { root, tree, access, roots, closedTo, shut };
}

type Built = Awaited<ReturnType<typeof build>>;

/** Whatever was found: no link is left in it, and it lies inside. */
function expectInside(place: ResolvedPath, { root, access, roots, closedTo }: Built): void {
  const existing = access.existingPart(place);
  expect(realpathSync(existing)).toBe(existing);
  expect(roots.some((allowed) => isBelow(place.path, path.join(root, ...allowed)))).toBe(true);
  expect(isBelow(place.path, path.join(root, ...closedTo))).toBe(false);
}

describe("a path in a random tree, under random limits", { timeout: 60_000 }, () => {
  it("leads where a slow walk leads, is allowed exactly when that is, and never leaves the limits", async () => {
    const bench = await Workbench.open();
    let run = 0;
    const seen = { allowed: 0, refused: 0, nothing: 0 };
    const intents = fc.constantFrom<Intent>("read", "write", "folder", "remove");
    await fc.assert(
      fc.asyncProperty(
        worlds,
        fc.array(fc.tuple(steps, fc.boolean(), intents), { minLength: 8, maxLength: 8 }),
        async (world, asked) => {
          const built = await build(bench, run++, world);
          const { root, tree, access, roots, closedTo } = built;
          for (const [parts, absolute, intent] of asked) {
            const text = `${absolute ? `${root}/` : ""}${parts.join("/")}` || ".";
            const found = await access.find(text, intent).catch((error: unknown) => error);
            if (!(found instanceof Error)) expectInside(found as ResolvedPath, built);
            const plain = withoutDots(parts);
            const wanted = plain && leadsTo(tree, plain);
            if (!wanted || intent === "remove") {
              seen.nothing++;
              continue;
            }
            const isAllowed = roots.some((allowed) => within(wanted, allowed)) && !within(wanted, closedTo);
            if (isAllowed) expect(found).toMatchObject({ path: path.join(root, ...wanted), missing: [] });
            else expect(found).toMatchObject({ code: "PERMISSION_DENIED" });
            seen[isAllowed ? "allowed" : "refused"]++;
          }
        },
      ),
      { numRuns: 250 },
    );
    // A test of nothing would pass as well.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20);
  });

  /** Its closed path is a link that ends with the parent of a link's target. */
  const LEADS_OUT: World = {
    planned: [
      { at: ["a"], kind: "link", target: ["c", "c", ".."], absolute: false },
      { at: ["c", "c"], kind: "link", target: ["."], absolute: false },
    ],
    ...{ limits: [0], closed: 1 },
  };

  it("of an entry stops before a link at its end, and what may be removed never is, holds or leads to more", async () => {
    const bench = await Workbench.open();
    let run = 0;
    const seen = { allowed: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(worlds, fc.array(steps, { minLength: 8, maxLength: 8 }), async (world, asked) => {
        const built = await build(bench, run++, world);
        const { root, tree, access, roots, closedTo, shut } = built;
        // As it is configured, and where that leads; nor is a link on the way there.
        const onTheWay = linksTo(tree, shut);
        const holdsClosed = (place: readonly string[]) =>
          [closedTo, shut].some((one) => within(place, one) || within(one, place)) ||
          onTheWay.some((link) => within(link, place));
        for (const parts of asked) {
          const plain = withoutDots(parts);
          const found = await access
            .findEntry(parts.join("/") || ".", "remove")
            .catch((error: unknown) => error);
          if (!(found instanceof Error)) {
            const place = found as ResolvedPath;
            const folder = path.dirname(place.path);
            if (place.missing.length <= 1) expect(realpathSync(folder)).toBe(folder);
            expect(roots.some((allowed) => isBelow(folder, path.join(root, ...allowed)))).toBe(true);
            expect(isBelow(path.join(root, ...closedTo), place.path)).toBe(false);
            expect(isBelow(place.path, path.join(root, ...closedTo))).toBe(false);
          }
          const last = plain?.at(-1);
          const folder = plain && last !== undefined && leadsTo(tree, plain.slice(0, -1));
          if (!folder || leadsTo(tree, [...folder, "."]) === undefined) continue;
          const wanted = [...folder, last];
          if (!pathsOf(tree).some((one) => one.join("/") === wanted.join("/"))) continue;
          const isAllowed = roots.some((allowed) => within(folder, allowed)) && !holdsClosed(wanted);
          if (isAllowed) expect(found).toMatchObject({ path: path.join(root, ...wanted), missing: [] });
          else expect(found).toMatchObject({ code: "PERMISSION_DENIED" });
          seen[isAllowed ? "allowed" : "refused"]++;
        }
      }),
      { numRuns: 250, examples: [[LEADS_OUT, [["b"], ["c", "b"], ["a"], [], [], [], [], []]]] },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20);
  });
});

describe("a path in a random tree, with some paths closed", { timeout: 60_000 }, () => {
  it("is closed exactly if its name, where it leads, or anything on the way there is; whoever closed it", async () => {
    const bench = await Workbench.open();
    const names = fc.constantFrom("a", "b", "c");
    const closures = fc.record({ places: fc.array(fc.nat(), { maxLength: 2 }), name: fc.option(names) });
    const seen = { allowed: 0, closed: 0 };
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        plans,
        closures,
        fc.nat(3),
        fc.array(steps, { minLength: 8, maxLength: 8 }),
        async (planned, { places, name }, by, asked) => {
          const root = bench.at(`run-${run++}`);
          const tree = grow(planned);
          makeOnDisk(tree, root, root);
          const paths = pathsOf(tree).filter((parts) => parts.length > 0 && leadsTo(tree, parts));
          const shut = places
            .flatMap((index) => [paths[index % paths.length] ?? []])
            .filter((one) => one.length);
          const globs = [
            ...shut.map((parts) => path.join(root, ...parts)),
            ...(name ? [path.join(root, "**", name)] : []),
          ];
          const all = [...shut, ...shut.map((parts) => leadsTo(tree, parts) ?? parts)];
          const isClosed = (place: readonly string[]) =>
            all.some((one) => within(place, one)) || (name !== null && place.includes(name));
          const admission = bench.admission(closedBy(bench, by, globs));
          const access = await new Files({ protectedPaths: closedPaths() }).as({
            session: { cwd: root },
            rights: admission.rights,
          });
          for (const parts of asked) {
            const plain = withoutDots(parts);
            const wanted = plain && leadsTo(tree, plain);
            if (!plain || !wanted) continue;
            const found = await access.find(parts.join("/") || ".", "read").catch((error: unknown) => error);
            const way = [wanted, plain, ...seenOnTheWay(tree, plain)];
            if (way.some(isClosed)) expect(found).toMatchObject({ code: "PERMISSION_DENIED" });
            else expect(found).toMatchObject({ path: path.join(root, ...wanted) });
            seen[way.some(isClosed) ? "closed" : "allowed"]++;
          }
        },
      ),
      { numRuns: 400 },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20);
  });
});

/** The same closure by each of those who can make one, or shared out among them. */
function closedBy({ owner }: Workbench, by: number, globs: string[]): CallOptions {
  if (by === 0) return { policy: { denied_paths: globs } };
  if (by === 1) return { relayPolicy: { denied_paths: globs } };
  if (by === 2) return { grant: { ...owner, denied_paths: globs } };
  const [first = [], rest = []] = [globs.slice(0, 1), globs.slice(1)];
  return { policy: { denied_paths: first }, grant: { ...owner, denied_paths: rest } };
}
