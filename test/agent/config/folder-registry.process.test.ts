import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FolderRegistry } from "../../../agent/config/folder-registry.ts";
import { temporaryFolder } from "../../helpers/folder.ts";

function withRegistry() {
  const base = temporaryFolder();
  const place = join(base, "state", "folders");
  const folder = (name: string) => {
    const made = join(base, name);
    mkdirSync(made, { recursive: true });
    return made;
  };
  return { base, place, folder, registry: new FolderRegistry(place) };
}

test("what is noted is known at once to whoever looks, also to one who looked before", () => {
  const { place, folder, registry } = withRegistry();
  const other = new FolderRegistry(place);
  expect(other.list()).toEqual([]);
  for (const name of ["one", "two", "three"]) {
    registry.add({ folder: folder(name), kind: "data" });
    registry.add({ folder: folder(name), kind: "data" });
    expect(other.list().map((entry) => entry.folder)).toContain(folder(name));
  }
  registry.add({ folder: folder("one"), kind: "program" });
  expect(other.list()).toHaveLength(4);
});

test("nobody else may read it", () => {
  const { place, folder, registry } = withRegistry();
  registry.add({ folder: folder("one"), kind: "data" });
  expect(statSync(place).mode & 0o777).toBe(0o700);
  const [name = ""] = readdirSync(place);
  expect(statSync(join(place, name)).mode & 0o777).toBe(0o600);
});

test("folders that are gone go from it with the next one, but for those of a drive that was taken out", () => {
  const { base, folder, registry } = withRegistry();
  const gone = folder("gone");
  const away = folder("drive/relay");
  for (const one of [gone, away]) registry.add({ folder: one, kind: "data" });
  rmSync(gone, { recursive: true });
  rmSync(join(base, "drive"), { recursive: true });
  registry.add({ folder: folder("new"), kind: "data" });
  expect(registry.list().map((entry) => entry.folder)).toEqual(expect.arrayContaining([away, folder("new")]));
  expect(registry.list()).toHaveLength(2);
});

test("files that are none of ours are passed over", () => {
  const { place, folder, registry } = withRegistry();
  registry.add({ folder: folder("one"), kind: "data" });
  for (const [name, text] of [
    ["a.json", "{"],
    ["b.json", '{"folder":"","kind":"data"}'],
    ["c.json", '{"folder":"/x","kind":"other"}'],
    ["d.tmp", '{"folder":"/x","kind":"data"}'],
  ] as const)
    writeFileSync(join(place, name), text);
  mkdirSync(join(place, "e.json"));
  expect(registry.list().map((entry) => entry.folder)).toEqual([folder("one")]);
});

test("nothing that another user may put there holds up who reads it", () => {
  const { place, folder, registry } = withRegistry();
  registry.add({ folder: folder("one"), kind: "data" });
  execFileSync("mkfifo", [join(place, "pipe.json")]);
  symlinkSync("/dev/zero", join(place, "endless.json"));
  expect(registry.list().map((entry) => entry.folder)).toEqual([folder("one")]);
});

test("a place that cannot be written is said", () => {
  const { base, registry, folder } = withRegistry();
  writeFileSync(join(base, "state"), "a file");
  expect(() => registry.add({ folder: folder("one"), kind: "data" })).toThrow(/cannot be/);
  expect(registry.list()).toEqual([]);
});
