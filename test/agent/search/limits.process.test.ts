/** Searching never shows what a caller may not see: neither lines nor names. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, it } from "vitest";
import { Files } from "../../../agent/fs/access.ts";
import { currentPlatform } from "../../../agent/platform/current.ts";
import { openByIdentity } from "../../../agent/platform/directory.ts";
import { SearchEngines } from "../../../agent/search/engines.ts";
import { grepTool } from "../../../agent/tools/grep.ts";
import { closedPaths } from "../../helpers/protected-paths.ts";
import { failure, Workbench } from "../tools/workbench.ts";
import { ENGINES, linesOf, searcher } from "./searching.ts";

const WAYS = ENGINES.flatMap(([name, engines]) => [
  [name, "by descriptors", engines, currentPlatform()] as const,
  [name, "by identity", engines, { ...currentPlatform(), openDirectory: openByIdentity }] as const,
]);

describe.each(WAYS)("with %s, folders opened %s", (_name, _way, engines, platform) => {
  async function limited() {
    const bench = await Workbench.open({ platform });
    await bench.put("open/file.txt", "secret inside\n");
    await bench.put("shut/file.txt", "secret outside\n");
    const { grep, glob } = searcher(bench, engines);
    const policy = { allowed_paths: [bench.at("open")] };
    const everything = { show_hidden: true, include_ignored: true };
    const find = (name: string, input: Record<string, unknown>, options = {}) =>
      bench.call(name, { show_hidden: true, ...input }, { policy, ...options });
    return { bench, grep, glob, policy, everything, find };
  }

  it("a folder outside, or above what is allowed, is not searched, by any spelling", async () => {
    const { bench, grep, glob, policy, find } = await limited();
    symlinkSync("../shut", bench.at("open/link"));
    for (const place of [".", "shut", "open/../shut", "open/link", "shut/file.txt", "shut/none", "/"]) {
      for (const search of [
        () => grep({ pattern: "secret", path: place }, { policy }),
        () => glob({ pattern: "*", path: place }, { policy }),
        () => find("search_files", { query: "file", path: place }),
        () => find("DirectoryTree", { path: place }),
      ]) {
        const error = await failure(search());
        expect(error.code).toBe("PERMISSION_DENIED");
        expect(error.message).not.toContain("exist");
      }
    }
    for (const pattern of [bench.at("shut/*"), "../shut/*", bench.at("*/*.txt"), "link/*", "/etc/pass*"]) {
      expect((await failure(glob({ pattern, path: "open" }, { policy }))).code).toBe("PERMISSION_DENIED");
    }
  });

  it("files are sorted by their time", async () => {
    const { bench, glob, policy } = await limited();
    for (const [name, time] of [
      ["open/b", 3],
      ["open/c", 9],
      ["open/a", 6],
    ] as const) {
      await bench.put(name, "");
      utimesSync(bench.at(name), time, time);
    }
    const { output } = await glob({ pattern: "?", path: "open" }, { policy });
    expect(output).toBe(`c\na\nb\n[Paths are relative to ${bench.at("open")}]`);
  });

  it("limits of policy, relay and grant hold together", async () => {
    const { bench, grep, policy } = await limited();
    await bench.put("open/deep/file.txt", "secret deep\n");
    const grant = { ...bench.owner, id: makeGrantId(), paths: [bench.at("open/deep"), bench.at("shut")] };
    const limits = { policy, grant, relayPolicy: { allowed_paths: [bench.home] } };
    expect((await grep({ pattern: "secret", path: "open/deep" }, limits)).output).toContain("secret deep");
    for (const place of ["open", "shut", "."]) {
      expect((await failure(grep({ pattern: "secret", path: place }, limits))).code).toBe(
        "PERMISSION_DENIED",
      );
    }
  });

  it("links inside lead nowhere, also in circles, and rules of folders outside are not asked", async () => {
    const { bench, grep, glob, policy, everything, find } = await limited();
    symlinkSync("../shut", bench.at("open/folder"));
    symlinkSync("../shut/file.txt", bench.at("open/linked.txt"));
    symlinkSync(".", bench.at("open/circle"));
    mkdirSync(bench.at(".git"));
    await bench.put(".gitignore", "*.txt\n");
    const options = { policy };
    for (const extra of [{}, everything]) {
      const lines = await grep({ pattern: "secret", path: "open", ...extra }, options);
      expect(linesOf(lines)).toEqual(["file.txt:1:secret inside"]);
      const files = await glob({ pattern: "**/*.txt", path: "open", ...extra }, options);
      expect(linesOf(files)).toEqual(["file.txt"]);
    }
    const named = await find("search_files", { query: "*.txt", path: "open" });
    expect(named.output.split("\n")).toEqual([bench.at("open/file.txt"), bench.at("open/linked.txt")]);
    const tree = await find("DirectoryTree", { path: "open" });
    expect(tree.output.split("\n")).toEqual([
      `${bench.at("open")}/`,
      "  circle -> .",
      "  file.txt",
      "  folder -> ../shut",
      "  linked.txt -> ../shut/file.txt",
    ]);
  });

  it("what belongs to Matrx itself is neither read nor named, from above, by a link, or with odd signs in its name", async () => {
    const { bench, everything } = await limited();
    const odd = path.join(path.dirname(bench.state), "od[d]{state}*");
    mkdirSync(odd);
    for (const folder of [bench.state, odd]) writeFileSync(path.join(folder, "key-file"), "secret key\n");
    symlinkSync(bench.state, bench.at("way"));
    const files = new Files({ protectedPaths: closedPaths(bench.state, odd), platform });
    const { grep, glob } = searcher(bench, engines, files);
    const above = path.dirname(bench.state);
    for (const search of [
      () => grep({ pattern: "secret", path: above, ...everything }),
      () => glob({ pattern: "**", path: above, ...everything }),
      () => glob({ pattern: "**/key*", path: above, ...everything }),
    ]) {
      const { output, metadata } = await search();
      for (const text of [output, JSON.stringify(metadata)]) {
        expect(text).not.toContain("key-file");
        expect(text).not.toContain("secret key");
      }
    }
    expect((await grep({ pattern: "secret", path: above })).output).toContain("secret inside");
    for (const place of [bench.state, bench.at("way"), odd]) {
      expect((await failure(grep({ pattern: "secret", path: place }))).code).toBe("PERMISSION_DENIED");
      expect((await failure(glob({ pattern: "*", path: place }))).code).toBe("PERMISSION_DENIED");
    }
  });

  it("what belongs to Matrx itself is in no tree, and is not found by name", async () => {
    const { bench } = await limited();
    writeFileSync(path.join(bench.state, "key-file"), "secret key\n");
    const above = path.dirname(bench.state);
    const { output } = await bench.call("DirectoryTree", { path: above, show_hidden: true });
    expect(output).toContain("home/");
    expect(output).not.toContain("state");
    for (const query of ["key-file", "state", "*"]) {
      const found = await bench.call("search_files", { query, path: above, show_hidden: true });
      expect(`${found.output}${JSON.stringify(found.metadata)}`).not.toMatch(/key-file|\/state/);
    }
  });

  it("a hard link to a protected file shows nothing of it", async () => {
    const { bench } = await limited();
    const file = await bench.put("credentials", "secret of Matrx\n");
    writeFileSync(path.join(bench.state, "key"), "secret key of Matrx\n");
    linkSync(file, bench.at("open/other-name.txt"));
    linkSync(path.join(bench.state, "key"), bench.at("open/other-name-too.txt"));
    const files = new Files({ protectedPaths: closedPaths(file, bench.state), platform });
    const { grep, glob } = searcher(bench, engines, files);
    const { output } = await grep({ pattern: "secret", path: bench.home });
    expect(output).toContain("secret inside");
    expect(output).not.toContain("of Matrx");
    expect((await glob({ pattern: "**/*", path: bench.home })).output).not.toMatch(/other-name|credentials/);
    for (const name of ["open/other-name.txt", "open/other-name-too.txt"]) {
      const named = await failure(grep({ pattern: "secret", path: bench.at(name) }));
      expect(named.code).toBe("PERMISSION_DENIED");
    }
    const read = await failure(bench.call("Read", { file_path: bench.at("open/other-name-too.txt") }));
    expect(read.message).toContain("belongs to Matrx itself");
  });
});

describe.each(ENGINES)("a program that swaps a folder for a link all the time, with %s", (_name, engines) => {
  it("never gets a line or a name from outside shown", async () => {
    const bench = await Workbench.open();
    for (let i = 0; i < 200; i++) {
      await bench.put(`open/sub/file-${i}`, "needle inside\n");
      await bench.put(`shut/file-${i}`, "needle outside\n");
      await bench.put(`shut/outside-${i}`, "needle outside\n");
    }
    const policy = { allowed_paths: [bench.at("open")] };
    const swap = `
      const fs = require("node:fs");
      process.chdir(${JSON.stringify(bench.home)});
      fs.symlinkSync("../shut", "open/link");
      process.stdout.write("ready");
      const pause = new Int32Array(new SharedArrayBuffer(4));
      for (;;) {
        fs.renameSync("open/sub", "open/kept"); fs.renameSync("open/link", "open/sub");
        Atomics.wait(pause, 0, 0, Math.random() * 3);
        fs.renameSync("open/sub", "open/link"); fs.renameSync("open/kept", "open/sub");
        Atomics.wait(pause, 0, 0, Math.random() * 3);
      }`;
    const racer = spawn(process.execPath, ["-e", swap], { stdio: ["ignore", "pipe", "inherit"] });
    await once(racer.stdout, "data");
    const { grep, glob } = searcher(bench, engines);
    let inside = 0;
    try {
      for (const until = performance.now() + 3000; performance.now() < until; ) {
        for (const search of [
          () => grep({ pattern: "needle", path: "open", max_results: 1000 }, { policy }),
          () => glob({ pattern: "**/*", path: "open" }, { policy }),
        ]) {
          const { output, metadata } = await search();
          if (output.includes("file-")) inside++;
          expect(output).not.toContain("outside");
          expect(JSON.stringify(metadata)).not.toContain("outside");
        }
      }
    } finally {
      racer.kill("SIGKILL");
      if (racer.exitCode === null && racer.signalCode === null) await once(racer, "exit");
    }
    expect(inside).toBeGreaterThan(0);
  });
});

describe("the environment of ripgrep", () => {
  it("has no say: neither its configuration file nor rules of the user's own", async () => {
    const bench = await Workbench.open();
    await bench.put("f.txt", "needle\n");
    await bench.put("config", "--files\n--pre=/bin/false\n");
    await bench.put("other/.config/git/ignore", "*.txt\n");
    const before = { ...process.env };
    Object.assign(process.env, {
      RIPGREP_CONFIG_PATH: bench.at("config"),
      XDG_CONFIG_HOME: bench.at("other/.config"),
    });
    try {
      const tool = grepTool(bench.files, new SearchEngines());
      expect(tool.timeoutMs).toBe(15_000);
      const { output } = await searcher(bench, new SearchEngines()).grep({ pattern: "needle" });
      expect(output).toBe("f.txt:1:needle");
    } finally {
      for (const name of ["RIPGREP_CONFIG_PATH", "XDG_CONFIG_HOME"]) {
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
      }
    }
  });
});
