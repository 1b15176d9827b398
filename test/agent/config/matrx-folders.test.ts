import { chownSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import path, { join } from "node:path";
import { afterEach, describe, expect, it, test, vi } from "vitest";
import { defaultFolders, homeOf } from "../../../agent/config/app-dirs.ts";
import { FolderRegistry } from "../../../agent/config/folder-registry.ts";
import { MatrxFolders, noteHome, ownRegistry, programFolder } from "../../../agent/config/matrx-folders.ts";
import { currentPlatform } from "../../../agent/platform/current.ts";
import { homesIn } from "../../../agent/platform/other-homes.ts";
import { ROOT } from "../../../scripts/tree.ts";
import { temporaryFolder } from "../../helpers/folder.ts";

afterEach(() => vi.unstubAllEnvs());

function person() {
  const home = temporaryFolder();
  vi.stubEnv("HOME", home);
  const folder = (name: string) => {
    const made = join(home, name);
    mkdirSync(made, { recursive: true });
    return made;
  };
  return { home, folder };
}

const alone = { ...currentPlatform(), otherHomes: () => [] };

describe("what belongs to Matrx on this machine", () => {
  it("are the usual places too when this agent's files are elsewhere, and the program", () => {
    const { home, folder } = person();
    const own = homeOf({ MATRX_HOME: folder("relay/agent") });
    const { closed, program } = new MatrxFolders(own, {}, alone).current();
    for (const place of [
      folder("relay/agent"),
      join(home, ".config/matrx"),
      join(home, ".local/share/matrx"),
      join(home, ".local/state/matrx"),
      join(ROOT, ".matrx"),
    ])
      expect(closed).toContain(place);
    for (const place of [ROOT, process.execPath]) expect(program).toContain(place);
  });

  it("are folders that `npm start` names to its agent", () => {
    person();
    const env = { MATRX_PROTECTED: ["/srv/relay", "", "/x y"].join(path.delimiter) };
    const { closed } = new MatrxFolders(homeOf({ MATRX_HOME: "/x" }), env, alone).current();
    expect(closed).toEqual(expect.arrayContaining(["/srv/relay", "/x y", "/x"]));
    expect(closed).not.toContain("");
  });

  it("are data and clones of relays that were started, also after this agent was", () => {
    const { folder } = person();
    const folders = new MatrxFolders(homeOf({}), {}, alone);
    const before = folders.current();
    ownRegistry().add({ folder: folder("srv/relay"), kind: "data" });
    ownRegistry().add({ folder: folder("clone"), kind: "program" });
    const { closed, program } = folders.current();
    expect(closed).toEqual([...before.closed, folder("srv/relay")]);
    expect(program).toEqual([...before.program, folder("clone")]);
  });

  it("are homes of other agents and command lines of this user, when they are in no usual place", () => {
    const { home, folder } = person();
    noteHome(defaultFolders(home, alone.name), {});
    noteHome(homeOf({ MATRX_HOME: folder("known/agent") }), { MATRX_PROTECTED: folder("known") });
    expect(ownRegistry().list()).toEqual([]);
    noteHome(homeOf({ MATRX_HOME: folder("second") }), {});
    expect(ownRegistry().list()).toMatchObject([{ folder: folder("second"), kind: "data" }]);
    expect(new MatrxFolders(homeOf({}), {}, alone).current().closed).toContain(join(home, "second"));
  });

  it("are those of other users whose files this program could read: what is theirs, and no more", () => {
    const { folder } = person();
    const ann = temporaryFolder();
    const bob = temporaryFolder();
    const platform = { ...alone, otherHomes: () => [ann, bob] };
    const places = defaultFolders(ann, platform.name);
    mkdirSync(places.state, { recursive: true });
    const relay = join(ann, "relay");
    mkdirSync(relay);
    const registry = new FolderRegistry(join(places.state, "folders"));
    registry.add({ folder: relay, kind: "data" });
    const others = folder("not-hers");
    registry.add({ folder: others, kind: "data" });
    registry.add({ folder: "/nowhere-at-all/x", kind: "data" });
    // Only root makes files of different users.
    const isRoot = process.geteuid?.() === 0;
    const noted = readdirSync(join(places.state, "folders")).map((name) =>
      join(places.state, "folders", name),
    );
    if (isRoot) for (const place of [relay, ...noted]) chownSync(place, 12_345, 12_345);
    const { closed } = new MatrxFolders(homeOf({}), {}, platform).current();
    expect(closed).toEqual(expect.arrayContaining([places.config, places.state, relay]));
    expect(closed).not.toContain("/nowhere-at-all/x");
    expect(closed.some((place) => place.startsWith(bob))).toBe(false);
    expect(closed.includes(others)).toBe(!isRoot);
  });

  it.runIf(process.geteuid?.() === 0)("are no folders that other users only have links to", () => {
    person();
    const ann = temporaryFolder();
    const platform = { ...alone, otherHomes: () => [ann] };
    const places = defaultFolders(ann, platform.name);
    mkdirSync(places.state, { recursive: true });
    mkdirSync(path.dirname(places.config), { recursive: true });
    symlinkSync("/etc", places.config);
    chownSync(ann, 12_345, 12_345);
    const { closed } = new MatrxFolders(homeOf({}), {}, platform).current();
    expect(closed).toContain(places.state);
    expect(closed).not.toContain(places.config);
  });
});

test("the program is the clone that it runs in, or the packages that it is installed with", () => {
  expect(programFolder("/home/ann/relay/agent")).toBe("/home/ann/relay");
  expect(programFolder("/usr/lib/node_modules/@matrx/agent")).toBe("/usr/lib/node_modules");
  expect(programFolder("/x/node_modules/a/node_modules/@matrx/agent")).toBe("/x/node_modules");
});

test.each([
  [
    "Linux",
    "/home/ann",
    ["/home/ann/.config/matrx", "/home/ann/.local/share/matrx", "/home/ann/.local/state/matrx"],
  ],
  ["Darwin", "/Users/ann", ["/Users/ann/Library/Application Support/matrx", "/Users/ann/Library/Logs/matrx"]],
] as const)("the usual places on %s", (system, home, wanted) => {
  const { config, state, logs } = defaultFolders(home, system);
  expect([...new Set([config, state, logs])]).toEqual(wanted);
});

test("homes of other users are read from the system's list", () => {
  const passwd =
    "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:::/usr/sbin/nologin\nann:x:1000:1000:Ann:/home/ann:/bin/sh\n" +
    "also-ann:x:1001:1000::/home/ann:/bin/sh\nnone:x:2:2::/:/bin/sh\n";
  expect(homesIn(passwd)).toEqual(["/root", "/home/ann"]);
});
