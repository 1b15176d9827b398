/** The rules of commands never allow more than file tools do, but for what programs need to run. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ClosedPaths } from "@matrx/shared/access-rules.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Admission, type Intent } from "../../../agent/core/gate.ts";
import { Session } from "../../../agent/core/sessions.ts";
import { Files } from "../../../agent/fs/access.ts";
import { RulesCompiler } from "../../../agent/sandbox/compile.ts";
import { defaultLimits } from "../../../agent/sandbox/limits.ts";
import { isIn } from "../../../agent/sandbox/paths.ts";
import { compileRules, type Disk, mayRead, mayWrite, type Reach } from "../../../agent/sandbox/rules.ts";
import { toolFolders } from "../../../agent/sandbox/system-paths.ts";
import { temporaryFolder } from "../../helpers/folder.ts";

const NAMES = ["a", "b", "c"];
/** All paths of at most three names. */
const PATHS = NAMES.flatMap((one) => [
  `/${one}`,
  ...NAMES.flatMap((two) => [`/${one}/${two}`, ...NAMES.map((three) => `/${one}/${two}/${three}`)]),
]);
const SOME = fc.array(fc.constantFrom(...PATHS), { maxLength: 4 });

/** A disk with these paths; those that have others in them are folders. */
function diskOf(existing: readonly string[], folders: readonly string[]): Disk {
  const all = new Set<string>();
  for (const entry of [...existing, ...folders]) {
    for (let above = entry; above !== ""; above = above.slice(0, above.lastIndexOf("/"))) all.add(above);
  }
  const isFolder = (entry: string) =>
    folders.includes(entry) || [...all].some((one) => one.startsWith(`${entry}/`));
  return {
    kindOf: (entry) =>
      entry === "/" ? "folder" : !all.has(entry) ? undefined : isFolder(entry) ? "folder" : "file",
    entriesOf: (folder) =>
      [...all].filter((one) => one.slice(0, one.lastIndexOf("/")) === (folder === "/" ? "" : folder)),
  };
}

const reachArbitrary: fc.Arbitrary<Reach> = fc.record({
  folderLimits: fc.array(SOME, { minLength: 1, maxLength: 3 }),
  mayRead: fc.constant(true),
  mayWrite: fc.boolean(),
  closed: SOME,
  unchangeable: SOME,
  opened: SOME,
  sealed: SOME,
  network: fc.constant([]),
  cwd: fc.constantFrom(...PATHS),
  home: fc.constantFrom(...PATHS),
  limits: fc.constant(defaultLimits()),
  system: SOME,
});

/** Paths below a file stand for nothing. */
function pathsOf(disk: Disk): string[] {
  const isFolder = (entry: string) => ["folder", undefined].includes(disk.kindOf(entry));
  return PATHS.filter(
    (one) => isFolder(path.posix.dirname(one)) && isFolder(path.posix.dirname(path.posix.dirname(one))),
  );
}

describe("compiled rules", () => {
  const world = fc.record({ reach: reachArbitrary, existing: SOME, folders: SOME });

  it("keep to the folders of every party, and out of what is closed", () => {
    void fc.assert(
      fc.property(world, ({ reach, existing, folders }) => {
        const disk = diskOf(existing, folders);
        const rules = compileRules(reach, disk);
        for (const one of pathsOf(disk)) {
          const isGranted = reach.folderLimits.every((limit) => limit.some((folder) => isIn(one, folder)));
          const isClosed = reach.closed.some((folder) => isIn(one, folder));
          const longest = (folders: readonly string[]) =>
            Math.max(-1, ...folders.filter((folder) => isIn(one, folder)).map(({ length }) => length));
          const isFixed = longest(reach.unchangeable) > longest(reach.opened);
          const isSystem = reach.system.some((folder) => isIn(one, folder));
          if (isClosed && disk.kindOf(one)) expect(mayRead(rules, one)).toBe(false);
          if (!isGranted && !isSystem) expect(mayRead(rules, one)).toBe(false);
          const mayChange = reach.mayWrite && isGranted && !isClosed && !isFixed;
          if (!mayChange) expect(mayWrite(rules, one)).toBe(false);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("let a path be changed that is opened in a fixed folder, whichever folder around it was granted", () => {
    const given = { mayRead: true, mayWrite: true, closed: [], sealed: [], network: [], system: [] };
    const reach = { ...given, unchangeable: ["/a", "/a/b/c/d"], opened: ["/a/b/c"], cwd: "/a", home: "/a" };
    const disk = diskOf(["/a/b/x"], ["/a/b/c/d"]);
    for (const folder of ["/a", "/a/b", "/a/b/c"]) {
      const rules = compileRules({ ...reach, folderLimits: [[folder]], limits: defaultLimits() }, disk);
      const changed = ["/a", "/a/b", "/a/b/x", "/a/b/c", "/a/b/c/y", "/a/b/c/d"].filter((one) =>
        mayWrite(rules, one),
      );
      expect(changed).toEqual(["/a/b/c", "/a/b/c/y"]);
    }
  });

  it("allow no more with one more restriction", () => {
    void fc.assert(
      fc.property(world, SOME, SOME, ({ reach: given, existing, folders }, limit, closed) => {
        const disk = diskOf(existing, folders);
        const isAny = (one: string) => pathsOf(disk).includes(one);
        // A path below a file is closed by nothing being created around it, which a mask over the file makes needless.
        const reach = {
          ...given,
          closed: given.closed.filter(isAny),
          unchangeable: given.unchangeable.filter(isAny),
        };
        const rules = compileRules(reach, disk);
        const stricter: readonly Reach[] = [
          { ...reach, folderLimits: [...reach.folderLimits, limit] },
          { ...reach, closed: [...reach.closed, ...closed] },
          { ...reach, unchangeable: [...reach.unchangeable, ...closed] },
          { ...reach, opened: reach.opened.slice(1) },
          { ...reach, sealed: [...reach.sealed, ...closed] },
          { ...reach, mayWrite: false },
          { ...reach, mayRead: false },
        ];
        for (const more of stricter.map((one) => compileRules(one, disk))) {
          for (const one of pathsOf(disk)) {
            if (mayWrite(more, one)) expect(mayWrite(rules, one)).toBe(true);
            if (mayRead(more, one)) expect(mayRead(rules, one)).toBe(true);
          }
        }
      }),
      { numRuns: 1000 },
    );
  });

  it("keep folders on the way to what is closed in their place", () => {
    void fc.assert(
      fc.property(world, ({ reach, existing, folders }) => {
        const rules = compileRules(reach, diskOf(existing, folders));
        for (const { path: hidden } of rules.hidden) {
          for (let above = path.posix.dirname(hidden); above !== "/"; above = path.posix.dirname(above)) {
            const isMountPoint = [...rules.readable, ...rules.writable].includes(above);
            // One in which nothing can be renamed needs none.
            if (mayWrite(rules, path.posix.dirname(above))) expect(isMountPoint).toBe(true);
          }
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe("rules of this disk", () => {
  it("refuse what file tools refuse", async () => {
    const root = temporaryFolder();
    const at = (...names: string[]) => path.join(root, ...names);
    const all = ["x", "y"].flatMap((one) => [
      one,
      ...["p", "q", ".env", ".ssh"].map((two) => `${one}/${two}`),
    ]);
    for (const one of ["x", "y"]) {
      for (const two of ["p", "q", ".ssh"]) mkdirSync(at(one, two), { recursive: true });
      for (const file of ["p/file", "q/.env", ".ssh/key", ".env"]) writeFileSync(at(one, file), "");
    }
    symlinkSync(at("y"), at("x/link"));
    const paths = [
      ...all,
      "x/p/file",
      "x/q/.env",
      "x/.ssh/key",
      "y/p/file",
      "y/q/missing",
      "x/link/p/file",
      "z",
    ].map((name) => at(name));
    const files = new Files({ protectedPaths: () => ({ closed: [at("x/q")], program: [at("y/p")] }) });
    const compiler = new RulesCompiler(files, at("x"));
    const folder = fc.array(fc.constantFrom(root, at("x"), at("y"), at("x/p"), at("x/link")), {
      maxLength: 2,
    });
    const globs = fc.array(fc.constantFrom("~/p", "**/.env", `${root}/*/q`, at("y/q")), { maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(
        fc.record({ granted: folder, allowed: fc.option(folder), denied: globs, secrets: fc.boolean() }),
        fc.subarray(["write"] as const),
        async ({ granted, allowed, denied, secrets }, writes) => {
          const grant = {
            ...{
              id: makeGrantId(),
              owner: false,
              effects: ["read", "execute", ...writes] as const,
              paths: granted,
            },
            ...(secrets && { secrets: "open" as const }),
          };
          const policy = { denied_paths: denied, ...(allowed && { allowed_paths: allowed }) };
          const { rights } = new Admission(
            { grant: { ...grant, effects: [...grant.effects] } },
            policy,
            async () => undefined,
          );
          const caller = { session: new Session("0123456789abcdef" as never, grant.id, root), rights };
          const rules = await compiler.compile(caller, "");
          const closed = new ClosedPaths(
            rights.closedPaths.flatMap((one) => one.globs),
            at("x"),
          );
          for (const one of paths) {
            const canonical = one.replace("/link/", "/../y/");
            const isClosed = closed.closing(path.normalize(canonical)) !== undefined;
            if (isClosed || !(await mayTouch(files, caller, one, "read")))
              expect(mayRead(rules, path.normalize(canonical))).toBe(false);
            if (isClosed || !rights.mayWrite || !(await mayTouch(files, caller, one, "write")))
              expect(mayWrite(rules, path.normalize(canonical))).toBe(false);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("folders of tools", () => {
  it("come from the PATH, with their installation, and never a whole home or what is closed", () => {
    const home = temporaryFolder();
    const at = (name: string) => path.join(home, name);
    for (const folder of [
      "node/bin",
      "node/lib",
      ".local/bin",
      ".local/lib",
      ".local/share/matrx",
      "bin",
      "lib",
    ]) {
      mkdirSync(at(folder), { recursive: true });
    }
    const found = toolFolders(
      [at("node/bin"), at(".local/bin"), at("bin"), "bin", "/usr/bin", at("none")].join(":"),
      [home, at(".local/share/matrx")],
    );
    expect(found).toEqual([at("node"), at(".local/bin"), at("bin")]);
  });
});

async function mayTouch(
  files: Files,
  caller: Parameters<Files["check"]>[1],
  one: string,
  intent: Intent,
): Promise<boolean> {
  try {
    await files.check([{ path: one, intent }], { ...caller, rights: { ...caller.rights } });
    return true;
  } catch {
    return false;
  }
}
