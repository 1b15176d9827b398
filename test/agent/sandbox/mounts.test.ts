import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { partsOf } from "../../../agent/sandbox/mounts.ts";
import { temporaryFolder } from "../../helpers/folder.ts";

it("mounts what commands may change first, and then all of the system's around it", () => {
  const disk = realpathSync(temporaryFolder());
  const at = (name: string) => path.join(disk, name);
  for (const folder of ["usr/bin", "usr/local/lib", "usr/local/src/mine/closed", "nix"])
    mkdirSync(at(folder), { recursive: true });
  writeFileSync(at("usr/local/file"), "");
  const parts = partsOf({
    readable: [at("nix"), at("usr")],
    writable: [at("usr/local/src/mine")],
    hidden: [
      { path: at("nix"), isFolder: true },
      { path: at("usr/local/src/mine/closed"), isFolder: true },
    ],
    granted: [at("usr/local/src/mine")],
  });
  expect(parts.first.map((bind) => bind.path)).toEqual([at("usr"), at("usr/local/src/mine")]);
  expect(parts.firstMasks.map((mask) => mask.path)).toEqual([at("usr/local/src/mine/closed")]);
  expect(parts.last.map((bind) => bind.path).sort()).toEqual(
    ["nix", "usr/bin", "usr/local/file", "usr/local/lib"].map(at),
  );
  expect(parts.last.every((bind) => !bind.isWritable)).toBe(true);
  expect(parts.lastMasks.map((mask) => mask.path)).toEqual([at("nix")]);
});

it("mounts nothing where something closed was moved away meanwhile", () => {
  const disk = realpathSync(temporaryFolder());
  const rules = {
    ...{ readable: [], writable: [disk], granted: [disk] },
    hidden: [{ path: path.join(disk, "gone"), isFolder: true }],
  };
  expect(() => partsOf(rules)).toThrow(expect.objectContaining({ code: "UNAVAILABLE" }));
});
