import { spawn } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import { describe, expect, it } from "vitest";
import { mountsOf } from "../../../agent/platform/mounts.ts";
import { bindMount, mountProc } from "../../helpers/bind-mount.ts";
import { NEEDS_ROOT } from "../../helpers/parts.ts";
import { ENGINES, searcher } from "../search/searching.ts";
import { failure, WAYS, Workbench } from "../tools/workbench.ts";

const ALL = { include_ignored: true, show_hidden: true };

/** The code and reason of the refusal that a call ends with. */
async function refusal(call: Promise<unknown>): Promise<unknown> {
  const { code, details } = await failure(call);
  return [code, details?.reason];
}

const OWN = ["PERMISSION_DENIED", "OWN"];

function ownFile(bench: Workbench, name: string, content: string): string {
  const file = path.join(bench.state, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

/** Tries every tool that takes a path on a file that is closed under this name. */
async function tryFile(bench: Workbench, file: string) {
  const patch = `*** Begin Patch\n*** Update File: ${file}\n@@\n-secret\n+mine\n*** End Patch`;
  for (const [tool, input] of [
    ["Read", { file_path: file }],
    ["Read", { file_path: file, raw: true }],
    ["Write", { file_path: file, content: "mine" }],
    ["Edit", { file_path: file, old_string: "secret", new_string: "mine" }],
    ["ApplyPatch", { patch }],
    ["Move", { source: file, destination: "taken" }],
    ["Delete", { path: file, permanent: true }],
    ["Grep", { pattern: "secret", path: file }],
    ["OpenPath", { path: file }],
  ] as const) {
    expect([tool, ...((await refusal(bench.call(tool, input))) as unknown[])]).toEqual([tool, ...OWN]);
  }
}

/** Tries every tool that takes a folder; `name` is of a file in it. */
async function tryFolder(bench: Workbench, folder: string) {
  for (const [tool, input] of [
    ["ListDirectory", { path: folder }],
    ["DirectoryTree", { path: folder }],
    ["Glob", { pattern: "**", path: folder }],
    ["Grep", { pattern: "secret", path: folder }],
    ["search_files", { query: "e", path: folder }],
    ["create_directory", { path: path.join(folder, "new") }],
    ["Write", { file_path: path.join(folder, "new"), content: "x" }],
    ["Delete", { path: folder, recursive: true, permanent: true }],
    ["delete_directory", { path: folder, recursive: true }],
    ["Move", { source: folder, destination: "taken" }],
  ] as const) {
    expect([tool, ...((await refusal(bench.call(tool, input))) as unknown[])]).toEqual([tool, ...OWN]);
  }
}

/** All that searches from above tell. */
async function searchesOf(bench: Workbench): Promise<string> {
  const { home } = bench;
  const found: string[] = [];
  for (const [, engines] of ENGINES) {
    const { grep, glob } = searcher(bench, engines);
    for (const { output, metadata } of [
      await grep({ pattern: "secret", path: home, ...ALL }),
      await glob({ pattern: "**/*", path: home, ...ALL }),
    ])
      found.push(output, JSON.stringify(metadata));
  }
  for (const [tool, input] of [
    ["DirectoryTree", { path: home, ...ALL }],
    ["search_files", { query: "*", path: home, show_hidden: true }],
  ] as const)
    found.push((await bench.call(tool, input)).output);
  return found.join("\n");
}

describe.each(WAYS)("mounted a second time, walked %s", (_way, platform) => {
  it("a protected file is closed under its other path, also after it was replaced", NEEDS_ROOT, async () => {
    const bench = await Workbench.open({ platform });
    const key = ownFile(bench, "relay/keys.json", "secret");
    const other = bench.at("work/notes.txt");
    using _mount = bindMount(key, other);
    await tryFile(bench, other);
    expect(await searchesOf(bench)).not.toMatch(/secret|notes\.txt/);
    // What is mounted there is the old file still.
    ownFile(bench, "relay/new", "secret of today");
    renameSync(path.join(bench.state, "relay/new"), key);
    expect(readFileSync(other, "utf8")).toBe("secret");
    await tryFile(bench, other);
  });

  it(
    "a protected folder, one inside of it and one above it are closed under their other paths",
    NEEDS_ROOT,
    async () => {
      const bench = await Workbench.open({ platform });
      ownFile(bench, "relay/objects/database", "secret");
      const root = path.dirname(bench.state);
      for (const [from, inside] of [
        [bench.state, "relay/objects"],
        [path.join(bench.state, "relay/objects"), "."],
      ] as const) {
        const other = bench.at("work");
        using _mount = bindMount(from, other);
        await tryFolder(bench, path.join(other, inside));
        // What is made after the mount is closed as well.
        ownFile(bench, "relay/objects/later", "secret");
        await tryFile(bench, path.join(other, inside, "later"));
        await tryFile(bench, path.join(other, inside, "database"));
        expect(await searchesOf(bench)).not.toMatch(/secret|database|later/);
      }
      using _mount = bindMount(root, path.join(root, "again"));
      const again = (...names: string[]) => path.join(root, "again", ...names);
      await tryFolder(bench, again("state"));
      await tryFile(bench, again("state/relay/objects/database"));
      await bench.put("file", "mine");
      expect((await bench.call("Read", { file_path: again("home/file") })).output).toContain("mine");
    },
  );
});

describe("mounts as Linux lists them", () => {
  const table = [
    { device: "8:1", root: "/", point: "/", type: "ext4" },
    { device: "8:2", root: "/", point: "/home", type: "ext4" },
    { device: "0:5", root: "/", point: "/proc", type: "proc" },
  ];
  const aliases = (path: string, ...more: typeof table) => mountsOf([...table, ...more]).aliasesOf(path);

  it("tell every other path of a folder, of what lies in it, and of what it lies in", () => {
    const folder = "/home/ann/.config/matrx";
    const point = "/mnt/x";
    expect(aliases(folder)).toEqual([]);
    for (const [root, alias] of [
      ["/", "/mnt/x/ann/.config/matrx"],
      ["/ann/.config", "/mnt/x/matrx"],
      ["/ann/.config/matrx", "/mnt/x"],
      ["/ann/.config/matrx/key", "/mnt/x"],
    ] as const) {
      expect(aliases(folder, { device: "8:2", root, point, type: "ext4" })).toEqual([alias]);
    }
    for (const root of ["/ann/.config/matrx2", "/bob"]) {
      expect(aliases(folder, { device: "8:2", root, point, type: "ext4" })).toEqual([]);
    }
    expect(aliases(folder, { device: "8:3", root: "/", point, type: "ext4" })).toEqual([]);
  });

  it("tell which path of a second /proc stands for one of the first", () => {
    const mounts = mountsOf([...table, { device: "0:9", root: "/", point: "/srv/root/proc", type: "proc" }]);
    expect(mounts.usualPath("/srv/root/proc/1/environ")).toBe("/proc/1/environ");
    expect(mounts.usualPath("/srv/root/process")).toBe("/srv/root/process");
    expect(mounts.usualPath("/proc/1/environ")).toBe("/proc/1/environ");
  });
});

describe.each(WAYS)("under a second name, walked %s", (_way, platform) => {
  it("a protected file is closed, whenever it came and whenever it got that name", async () => {
    const bench = await Workbench.open({ platform });
    const deep = ownFile(bench, "jobs/one/log", "secret");
    linkSync(deep, bench.at("early"));
    await tryFile(bench, bench.at("early"));
    // Nothing in the folder changed since it was looked through: the file has another name only now.
    const quiet = ownFile(bench, "jobs/two/log", "secret");
    await bench.put("plain", "mine");
    linkSync(bench.at("plain"), bench.at("twin"));
    expect((await bench.call("Read", { file_path: "twin" })).output).toContain("mine");
    linkSync(quiet, bench.at("late"));
    await tryFile(bench, bench.at("late"));
    const younger = ownFile(bench, "jobs/one/younger", "secret");
    linkSync(younger, bench.at("last"));
    await tryFile(bench, bench.at("last"));
    expect(await searchesOf(bench)).not.toContain("secret");
    expect((await bench.call("Read", { file_path: "twin" })).output).toContain("mine");
  });
});

describe("the inside of processes and of the kernel", () => {
  const SYSTEM = ["PERMISSION_DENIED", "SYSTEM"];
  const OF_PROCESSES =
    "environ cmdline auxv mem maps smaps smaps_rollup numa_maps pagemap stack syscall fd fd/0 fdinfo/0 map_files " +
    "root cwd exe task/PID/environ task/PID/cmdline";

  it("is closed: memory, environment, arguments, files and places of any process", async () => {
    const bench = await Workbench.open();
    const child = spawn(process.execPath, ["-e", "process.stdin.resume()", "--", "--password=hunter2"], {
      stdio: ["pipe", "ignore", "inherit"],
      env: { SECRET: "hunter2" },
    });
    try {
      await once(child, "spawn");
      for (const entry of OF_PROCESSES.replaceAll("PID", String(child.pid)).split(" ")) {
        const place = `/proc/${child.pid}/${entry}`;
        if (/^(?:root|cwd|exe|fd\/0)$/.test(entry)) {
          // A link is followed as text, and what stands at its end is under the same rules.
          expect((await bench.call("ListDirectory", { path: `/proc/${child.pid}` })).output).not.toContain(
            "hunter2",
          );
          continue;
        }
        for (const [tool, input] of [
          ["Read", { file_path: place }],
          ["Write", { file_path: place, content: "x" }],
          ["Grep", { pattern: "hunter2", path: place }],
        ] as const) {
          expect([place, ...((await refusal(bench.call(tool, input))) as unknown[])]).toEqual([
            place,
            ...SYSTEM,
          ]);
        }
      }
      const { output } = await bench.call("Grep", { pattern: "hunter2", path: `/proc/${child.pid}`, ...ALL });
      expect(output).not.toContain("hunter2");
      const { output: comm } = await bench.call("Read", { file_path: `/proc/${child.pid}/comm` });
      expect(comm).toContain("MainThread");
    } finally {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  });

  it("is no way into what is closed: root and cwd of a process lead where the same path leads", async () => {
    const bench = await Workbench.open();
    const key = ownFile(bench, "key", "secret");
    const child = spawn("sleep", ["60"], { cwd: bench.state, stdio: "ignore" });
    try {
      await once(child, "spawn");
      for (const way of [
        `root${key}`,
        "cwd/key",
        `task/${child.pid}/root${key}`,
        `task/${child.pid}/cwd/key`,
      ]) {
        expect(await refusal(bench.call("Read", { file_path: `/proc/${child.pid}/${way}` }))).toEqual(OWN);
      }
      expect(await refusal(bench.call("ListDirectory", { path: `/proc/${child.pid}/cwd` }))).toEqual(OWN);
    } finally {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  });

  it.each([
    "/proc/kcore",
    "/proc/kallsyms",
    "/proc/kmsg",
    "/proc/kpageflags",
    "/proc/iomem",
    "/sys/firmware",
    "/sys/firmware/dmi/tables/DMI",
    "/sys/kernel/debug",
    "/sys/kernel/tracing/trace",
  ])("is closed: %s", async (place) => {
    const bench = await Workbench.open();
    const { code } = await failure(bench.call("Read", { file_path: place }));
    // Not each machine has each of them.
    if (code !== "NOT_FOUND") expect(await refusal(bench.call("Read", { file_path: place }))).toEqual(SYSTEM);
    const access = await bench.files.as(bench.context());
    expect(() => access.checkCanonical(place)).toThrow("is off limits to file tools");
  });

  it("is closed in a second /proc too", NEEDS_ROOT, async () => {
    const bench = await Workbench.open();
    const other = bench.at("proc");
    using _mount = mountProc(other);
    for (const entry of ["1/environ", "1/cmdline", "kallsyms"]) {
      expect(await refusal(bench.call("Read", { file_path: path.join(other, entry) }))).toEqual(SYSTEM);
    }
  });
});

describe.each(WAYS)("the program, walked %s", (_way, platform) => {
  const HELD: readonly (readonly [why: string, Partial<GrantScope>, Policy])[] = [
    ["a token that is held to folders", { paths: ["/"] }, {}],
    ["a token that is not the owner's", { owner: false }, {}],
    ["a token without Bash", { tools: ["Read", "Write", "Edit"] }, {}],
    ["a device whose policy names folders", {}, { allowed_paths: ["/"] }],
    ["a device whose policy closes Bash", {}, { allowed_tools: ["Read", "Write"] }],
  ];
  const PROGRAM = ["PERMISSION_DENIED", "PROGRAM"];

  async function withProgram() {
    const bench = await Workbench.open({ platform });
    const file = path.join(bench.program, "bin/agent.js");
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, "run()\n");
    return { bench, file };
  }

  it.each(HELD)("is read and not changed by %s", async (_who, limits, policy) => {
    const { bench, file } = await withProgram();
    const options = { policy, grant: { ...bench.owner, id: makeGrantId(), ...limits } };
    expect((await bench.call("Read", { file_path: file }, options)).output).toContain("run()");
    expect((await bench.call("Grep", { pattern: "run", path: bench.program }, options)).output).toContain(
      "run()",
    );
    await bench.put("mine", "x");
    linkSync(file, bench.at("other-name"));
    symlinkSync(file, bench.at("link"));
    const beside = path.join(bench.program, "bin/zz-probe.js");
    const add = `*** Begin Patch\n*** Add File: ${beside}\n+x\n*** End Patch`;
    for (const [tool, input] of [
      ["Write", { file_path: file, content: "x" }],
      ["Write", { file_path: beside, content: "x" }],
      ["Write", { file_path: bench.at("other-name"), content: "x" }],
      ["Write", { file_path: bench.at("link"), content: "x" }],
      ["Edit", { file_path: file, old_string: "run", new_string: "ruin" }],
      ["Edit", { file_path: bench.at("other-name"), old_string: "run", new_string: "ruin" }],
      ["ApplyPatch", { patch: add }],
      ["Move", { source: file, destination: bench.at("taken") }],
      ["Move", { source: bench.at("mine"), destination: file, overwrite: true }],
      ["Move", { source: bench.at("mine"), destination: beside }],
      ["Delete", { path: file, permanent: true }],
      ["create_directory", { path: path.join(bench.program, "new") }],
    ] as const) {
      expect([tool, ...((await refusal(bench.call(tool, input, options))) as unknown[])]).toEqual([
        tool,
        ...PROGRAM,
      ]);
    }
    for (const place of [bench.program, path.dirname(bench.program)]) {
      const gone = await failure(
        bench.call("Delete", { path: place, recursive: true, permanent: true }, options),
      );
      expect(gone.code).toBe("PERMISSION_DENIED");
      const moved = await failure(bench.call("Move", { source: place, destination: bench.at("x") }, options));
      expect(moved.code).toBe("PERMISSION_DENIED");
    }
    expect(readFileSync(file, "utf8")).toBe("run()\n");
  });

  it("is closed to them under the other path of a mount", NEEDS_ROOT, async () => {
    const { bench, file } = await withProgram();
    using _mount = bindMount(path.dirname(file), bench.at("work"));
    const options = { grant: { ...bench.owner, id: makeGrantId(), paths: [bench.home] } };
    const write = bench.call("Write", { file_path: bench.at("work/new.js"), content: "x" }, options);
    expect(await refusal(write)).toEqual(PROGRAM);
  });

  it("is changed by the owner, who may run any program", async () => {
    const { bench, file } = await withProgram();
    linkSync(file, bench.at("other-name"));
    await bench.call("Edit", { file_path: file, old_string: "run", new_string: "walk" });
    await bench.call("Write", { file_path: path.join(bench.program, "new.js"), content: "x" });
    expect(readFileSync(file, "utf8")).toBe("walk()\n");
    await bench.call("Delete", { path: bench.program, recursive: true, permanent: true });
  });
});
