import { spawn } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { makeGrantId } from "@matrx/shared/ids.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Files } from "../../../agent/fs/access.ts";
import { closedPaths } from "../../helpers/protected-paths.ts";
import { type CallOptions, failure, WAYS, Workbench } from "../tools/workbench.ts";

describe.each(WAYS)("folders that are allowed, walked %s", (_way, platform) => {
  async function limited() {
    const bench = await Workbench.open({ platform });
    mkdirSync(bench.at("open"));
    mkdirSync(bench.at("shut"));
    await bench.put("open/file", "inside");
    await bench.put("shut/file", "outside");
    return { bench, policy: { allowed_paths: [bench.at("open")] } };
  }

  it("hold for reading, writing, listing and making, whatever exists", async () => {
    const { bench, policy } = await limited();
    expect((await bench.call("Read", { file_path: "open/file" }, { policy })).output).toContain("inside");
    await bench.call("Write", { file_path: "open/new/file", content: "x" }, { policy });
    for (const [tool, input] of [
      ["Read", { file_path: "shut/file" }],
      ["Read", { file_path: "shut/none" }],
      ["Read", { file_path: "open/../shut/file" }],
      ["Read", { file_path: "open" + "-not/file" }],
      ["Write", { file_path: "shut/new", content: "x" }],
      ["ListDirectory", { path: "." }],
      ["create_directory", { path: "shut/new" }],
      ["Read", { file_path: "/etc/passwd/below" }],
    ] as const) {
      const error = await failure(bench.call(tool, input, { policy }));
      expect(error.code).toBe("PERMISSION_DENIED");
      expect(error.hint).toContain(bench.at("open"));
      expect(error.message).not.toContain("exist");
    }
  });

  it("are those of the policy and of the grant, both", async () => {
    const { bench, policy } = await limited();
    mkdirSync(bench.at("open/deep"));
    await bench.put("open/deep/file", "deep");
    const grant = { ...bench.owner, id: makeGrantId(), paths: [bench.at("open/deep"), bench.at("shut")] };
    expect((await bench.call("Read", { file_path: "open/deep/file" }, { policy, grant })).output).toContain(
      "deep",
    );
    for (const file_path of ["open/file", "shut/file"]) {
      expect((await failure(bench.call("Read", { file_path }, { policy, grant }))).code).toBe(
        "PERMISSION_DENIED",
      );
    }
    const none = await failure(
      bench.call("Read", { file_path: "open/file" }, { policy: { allowed_paths: [] } }),
    );
    expect(none.hint).toContain("No folder is allowed");
    const foreign = { allowed_paths: ["C:/Users/me", "relative"] };
    expect((await failure(bench.call("Read", { file_path: "open/file" }, { policy: foreign }))).code).toBe(
      "PERMISSION_DENIED",
    );
  });

  it("are those that the owner set at the relay, besides", async () => {
    const { bench, policy } = await limited();
    await bench.put("open/deep/file", "deep");
    const relayPolicy = { allowed_paths: [bench.at("open/deep"), bench.at("shut")] };
    const limits = { policy, relayPolicy };
    expect((await bench.call("Read", { file_path: "open/deep/file" }, limits)).output).toContain("deep");
    for (const file_path of ["open/file", "shut/file"]) {
      const error = await failure(bench.call("Read", { file_path }, limits));
      expect(error.code).toBe("PERMISSION_DENIED");
    }
  });

  it("are the same whoever names them, and of several what all of them allow", async () => {
    const bench = await Workbench.open({ platform });
    const folders = ["a", "a/b", "a/b/c", "d", "d/e", "ab"].map((name) => bench.at(name));
    for (const folder of folders) await bench.put(path.relative(bench.home, path.join(folder, "file")), "x");
    symlinkSync("../d", bench.at("a/link"));
    const places = [
      ...folders.map((folder) => path.join(folder, "file")),
      bench.at("a/link/file"),
      bench.at("none"),
    ];
    const asked = async (place: string, limits: CallOptions) =>
      (await bench.files.as(bench.context(limits))).mayRead(place);
    const some = fc.option(fc.subarray(folders), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), some, some, some, async (place, one, two, three) => {
        const each = async (paths: string[] | undefined) => {
          const allowed_paths = paths === undefined ? {} : { allowed_paths: paths };
          const said = [
            await asked(place, { grant: { ...bench.owner, ...(paths && { paths }) } }),
            await asked(place, { policy: allowed_paths }),
            await asked(place, { relayPolicy: allowed_paths }),
          ];
          expect(new Set(said).size).toBe(1);
          return said[0] ?? false;
        };
        const together = await asked(place, {
          grant: { ...bench.owner, ...(one && { paths: one }) },
          policy: two ? { allowed_paths: two } : {},
          relayPolicy: three ? { allowed_paths: three } : {},
        });
        expect(together).toBe((await each(one)) && (await each(two)) && (await each(three)));
      }),
      { numRuns: 150 },
    );
  });

  it("are not left by a link, also one that leads to nothing yet", async () => {
    const { bench, policy } = await limited();
    symlinkSync(bench.at("shut/file"), bench.at("open/link"));
    symlinkSync(bench.at("shut/new"), bench.at("open/dangling"));
    symlinkSync("../shut", bench.at("open/folder"));
    for (const [tool, input] of [
      ["Read", { file_path: "open/link" }],
      ["Write", { file_path: "open/link", content: "x" }],
      ["Write", { file_path: "open/dangling", content: "x" }],
      ["Write", { file_path: "open/folder/new", content: "x" }],
      ["ListDirectory", { path: "open/folder" }],
      ["create_directory", { path: "open/dangling" }],
    ] as const) {
      expect((await failure(bench.call(tool, input, { policy }))).code).toBe("PERMISSION_DENIED");
    }
    expect(readFileSync(bench.at("shut/file"), "utf8")).toBe("outside");
  });

  it("let no error say what stands behind a link", async () => {
    const { bench, policy } = await limited();
    symlinkSync(bench.at("shut"), bench.at("open/away"));
    symlinkSync("../shut/file/below", bench.at("open/below"));
    symlinkSync("../open/file/below", bench.at("open/inside"));
    symlinkSync("circle", bench.at("shut/circle"));
    const long = "x".repeat(300);
    for (const file_path of [
      "open/away/file",
      "open/away/none",
      "open/away/file/below",
      "open/away/none/below",
      "open/away/circle/below",
      `open/away/${long}`,
      "open/below",
    ]) {
      for (const [tool, input] of [
        ["Read", { file_path }],
        ["Write", { file_path, content: "x" }],
        ["Glob", { pattern: `${file_path}/*` }],
        ["search_files", { query: "x", path: file_path }],
      ] as const) {
        const error = await failure(bench.call(tool, input, { policy }));
        expect([file_path, error.code, error.details?.system_code]).toEqual([
          file_path,
          "PERMISSION_DENIED",
          undefined,
        ]);
      }
    }
    for (const file_path of ["open/file/below", "open/inside"]) {
      const error = await failure(bench.call("Read", { file_path }, { policy }));
      expect(error.details?.system_code).toBe("ENOTDIR");
    }
  });

  it("let a listing say where a link leads, and not what is there", async () => {
    const bench = await Workbench.open();
    await bench.put("in/file", "x");
    await bench.put("out/secret", "x");
    symlinkSync(bench.at("out/secret"), bench.at("in/there"));
    symlinkSync(bench.at("out/none"), bench.at("in/not-there"));
    symlinkSync("file", bench.at("in/own"));
    const policy = { allowed_paths: [bench.at("in")] };
    const { output } = await bench.call("ListDirectory", { path: "in" }, { policy });
    expect(output.split("\n")).toEqual([
      "file",
      `not-there -> ${bench.at("out/none")}`,
      "own -> file",
      `there -> ${bench.at("out/secret")}`,
    ]);
  });

  it("may be named through a link by the owner, and by the caller", async () => {
    const { bench } = await limited();
    symlinkSync("open", bench.at("alias"));
    const policy = { allowed_paths: [bench.at("alias")] };
    expect((await bench.call("Read", { file_path: "open/file" }, { policy })).output).toContain("inside");
    expect((await bench.call("Read", { file_path: "alias/file" }, { policy })).output).toContain("inside");
  });
});

describe("a program that swaps a folder for a link all the time", () => {
  it("never gets a file from outside read or written", async () => {
    const bench = await Workbench.open();
    for (const folder of ["open/sub", "shut"]) mkdirSync(bench.at(folder), { recursive: true });
    await bench.put("open/sub/file", "inside");
    await bench.put("shut/file", "outside");
    const policy = { allowed_paths: [bench.at("open")] };
    const swap = `
      const fs = require("node:fs");
      process.chdir(${JSON.stringify(bench.home)});
      fs.symlinkSync("../shut", "open/link");
      process.stdout.write("ready");
      for (;;) {
        fs.renameSync("open/sub", "open/kept"); fs.renameSync("open/link", "open/sub");
        fs.renameSync("open/sub", "open/link"); fs.renameSync("open/kept", "open/sub");
      }`;
    const racer = spawn(process.execPath, ["-e", swap], { stdio: ["ignore", "pipe", "inherit"] });
    await once(racer.stdout, "data");
    try {
      const until = performance.now() + 3000;
      const seen = { inside: 0, refused: 0 };
      while (performance.now() < until) {
        try {
          const { output } = await bench.call("Read", { file_path: "open/sub/file" }, { policy });
          expect(output).toContain("inside");
          seen.inside++;
        } catch (error) {
          if (!(error instanceof Error && "code" in error)) throw error;
          seen.refused++;
        }
        await bench
          .call("Write", { file_path: "open/sub/new", content: "x", create_directories: false }, { policy })
          .catch(() => undefined);
      }
      expect(seen.inside).toBeGreaterThan(0);
      expect(seen.refused).toBeGreaterThan(0);
      expect(readFileSync(bench.at("shut/file"), "utf8")).toBe("outside");
      expect(() => readFileSync(bench.at("shut/new"))).toThrow("ENOENT");
    } finally {
      racer.kill("SIGKILL");
      if (racer.exitCode === null && racer.signalCode === null) await once(racer, "exit");
    }
  });
});

describe("what belongs to Matrx itself", () => {
  it("is closed to all tools, under any name", async () => {
    const bench = await Workbench.open();
    writeFileSync(path.join(bench.state, "key"), "secret");
    symlinkSync(bench.state, bench.at("link"));
    for (const [tool, input] of [
      ["Read", { file_path: path.join(bench.state, "key") }],
      ["Read", { file_path: "link/key" }],
      ["Read", { file_path: "../state/key" }],
      ["Read", { file_path: "link/key/below" }],
      ["Read", { file_path: "link/none/below" }],
      ["Write", { file_path: "link/new", content: "x" }],
      ["ListDirectory", { path: bench.state }],
      ["create_directory", { path: "link/new" }],
      ["Read", { file_path: `/proc/self/root${bench.state}/key` }],
    ] as const) {
      const error = await failure(bench.call(tool, input));
      expect(error.code).toBe("PERMISSION_DENIED");
      expect(error.message).toContain("belongs to Matrx itself");
    }
  });

  it("is closed also when its folder was moved, or is not there yet", async () => {
    const bench = await Workbench.open();
    writeFileSync(path.join(bench.state, "key"), "secret");
    const access = await bench.files.as(bench.context());
    renameSync(bench.state, `${bench.state}-moved`);
    const moved = access.openFolder(`${bench.state}-moved`, "moved");
    expect((await failure(moved)).message).toContain("belongs to Matrx itself");
    const made = await failure(bench.call("create_directory", { path: bench.state }));
    expect(made.code).toBe("PERMISSION_DENIED");
    renameSync(`${bench.state}-moved`, bench.state);
  });

  it("has a way to it that nothing may replace", async () => {
    const bench = await Workbench.open();
    const access = await bench.files.as(bench.context());
    const above = path.dirname(bench.state);
    expect((await failure(access.find(above, "remove"))).message).toContain(
      "leads to one of Matrx's own folders",
    );
    expect((await access.find(above, "read")).path).toBe(above);
    await expect(access.find(bench.home, "remove")).resolves.toBeTruthy();
  });

  it("has a way through links to it of which none may be replaced", async () => {
    const bench = await Workbench.open();
    mkdirSync(bench.at("real/matrx"), { recursive: true });
    symlinkSync("real", bench.at("second"));
    symlinkSync("second", bench.at("first"));
    mkdirSync(bench.at("other/matrx"), { recursive: true });
    symlinkSync("other", bench.at("lure"));
    const files = new Files({ protectedPaths: closedPaths(bench.at("first/matrx")) });
    const access = await files.as(bench.context());
    for (const name of ["first", "second", "real", "."]) {
      for (const intent of ["remove", "write"] as const) {
        const refused = await failure(access.findEntry(name, intent));
        expect([name, refused.message]).toEqual([
          name,
          expect.stringContaining("leads to one of Matrx's own folders"),
        ]);
      }
    }
    await expect(access.findEntry("lure", "remove")).resolves.toBeTruthy();
    await expect(access.findEntry("first/file", "write")).resolves.toBeTruthy();
  });

  it("includes the inside of processes, where secrets stand in the environment", async () => {
    const bench = await Workbench.open();
    for (const file_path of [
      "/proc/self/environ",
      `/proc/${process.pid}/status`,
      "/proc/1/environ",
      "/proc/1/fd/0",
    ]) {
      expect((await failure(bench.call("Read", { file_path }))).code).toBe("PERMISSION_DENIED");
    }
    expect((await bench.call("Read", { file_path: "/proc/1/status", limit: 1 })).output).toContain("Name:");
  });

  it("cannot be reached by a hard link to a file that is named itself", async () => {
    const bench = await Workbench.open();
    const file = await bench.put("credentials", "secret");
    linkSync(file, bench.at("other-name"));
    const { openFile } = await import("../../../agent/fs/open-file.ts");
    const files = new Files({ protectedPaths: closedPaths(file) });
    const access = await files.as(bench.context());
    expect((await failure(openFile(access, "other-name"))).message).toContain("belongs to Matrx itself");
  });
});

describe("how a path is written", () => {
  it("may be with ~, relative, or with accents composed either way", async () => {
    const bench = await Workbench.open();
    await bench.put("cafe\u0301/ro\u0301se", "found");
    expect((await bench.call("Read", { file_path: "café/róse" })).output).toContain("found");
    await bench.call("Write", { file_path: "café/róse", content: "same file" });
    expect((await bench.call("ListDirectory", { path: "café" })).metadata?.total).toBe(1);
    expect((await bench.call("ListDirectory", { path: "~" })).metadata?.path).toBeTruthy();
  });

  it("is refused when two names could be meant", async () => {
    const bench = await Workbench.open();
    // ộ in two of its spellings; the third is asked for.
    await bench.put("o\u0302\u0323", "x");
    await bench.put("o\u0323\u0302", "y");
    expect((await failure(bench.call("Read", { file_path: "ộ" }))).code).toBe("CONFLICT");
    expect((await bench.call("Read", { file_path: "o\u0323\u0302" })).output).toContain("y");
  });

  it.each(["a\0b", "C:\\Users", "D:/x", "\\\\server\\share", "\ud800"])(
    "is refused when it is %j",
    async (file_path) => {
      const bench = await Workbench.open();
      expect((await failure(bench.call("Read", { file_path }))).code).toBe("INVALID_PARAMETERS");
    },
  );

  it("never leads out of an allowed folder, whatever it is", async () => {
    const bench = await Workbench.open();
    for (const folder of ["open/a/b", "shut"]) mkdirSync(bench.at(folder), { recursive: true });
    symlinkSync("../../shut", bench.at("open/a/out"));
    symlinkSync("a", bench.at("open/in"));
    const grant = { ...bench.owner, paths: [bench.at("open")] };
    const access = await bench.files.as(bench.context({ grant }));
    const part = fc.constantFrom(
      "..",
      ".",
      "open",
      "shut",
      "a",
      "b",
      "out",
      "in",
      "new",
      "",
      "~",
      "é",
      "e\u0301",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), fc.boolean(), async (parts, absolute) => {
        const text = `${absolute ? `${bench.home}/` : ""}${parts.join("/")}` || ".";
        const place = await access.find(text, "write").catch(() => undefined);
        if (place) expect(`${place.path}/`.startsWith(`${bench.at("open")}/`)).toBe(true);
      }),
      { numRuns: 400 },
    );
  });
});
