import { chmodSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { SearchEngines } from "../../../agent/search/engines.ts";
import { findRipgrep, usualPlaces } from "../../../agent/search/find-ripgrep.ts";
import { Workbench } from "../tools/workbench.ts";

describe("which ripgrep is used", () => {
  async function fake(version: string) {
    const bench = await Workbench.open();
    const program = await bench.put("rg", `#!/bin/sh\necho "ripgrep ${version}"\n`);
    chmodSync(program, 0o755);
    return { bench, program };
  }

  it("is the package's, else the system's, else none", async () => {
    const bundled = await usualPlaces.fromPackage();
    const { bench, program } = await fake("14.1.0 (rev abc)");
    const noPackage = () => Promise.reject(new Error("no binary for this platform"));
    expect(await findRipgrep()).toMatchObject({ file: bundled, from: "package" });
    expect(
      await findRipgrep({ fromPackage: usualPlaces.fromPackage, ofSystem: () => program }),
    ).toMatchObject({
      from: "package",
    });
    expect(await findRipgrep({ fromPackage: noPackage, ofSystem: () => program })).toEqual({
      file: program,
      from: "system",
      version: "14.1.0",
    });
    const before = process.env.PATH;
    process.env.PATH = `relative:${bench.home}:${before}`;
    try {
      // Whoever may write in a folder of the PATH does not choose what searches for everybody.
      expect(usualPlaces.ofSystem()).not.toBe(program);
    } finally {
      process.env.PATH = before;
    }
    expect(await findRipgrep({ fromPackage: noPackage, ofSystem: () => undefined })).toBeUndefined();
  });

  it("is not one that does not run, is too old, or is something else", async () => {
    const { bench, program: old } = await fake("12.1.1");
    const broken = await bench.put("not-executable", "");
    const ofSystem = () => undefined;
    for (const file of [old, broken, bench.at("none"), process.execPath]) {
      expect(await findRipgrep({ fromPackage: async () => file, ofSystem })).toBeUndefined();
      expect((await new SearchEngines({ fromPackage: async () => file, ofSystem }).best()).name).toBe(
        "javascript",
      );
    }
    expect((await new SearchEngines().best()).name).toBe("ripgrep");
  });
});
