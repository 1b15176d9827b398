import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import { describe, expect, it } from "vitest";
import { jsonSchemaOf } from "../../../agent/core/manifest.ts";
import { asAnotherUser, failure, Workbench } from "./workbench.ts";

describe("listing a directory", () => {
  it("is sorted, marks directories, shows where links lead, and hides dotfiles unless asked", async () => {
    const bench = await Workbench.open();
    for (const name of ["b.txt", ".hidden", "Z"]) await bench.put(name, "xy");
    mkdirSync(bench.at("folder"));
    symlinkSync("folder", bench.at("to-folder"));
    symlinkSync("b.txt", bench.at("to-file"));
    symlinkSync("nowhere", bench.at("to-nothing"));
    symlinkSync("loop", bench.at("loop"));
    symlinkSync("b.txt/x", bench.at("to-below-file"));
    const { output, metadata } = await bench.call("ListDirectory", {});
    expect(output.split("\n")).toEqual([
      "Z",
      "b.txt",
      "folder/",
      "loop -> loop [links in a loop]",
      "to-below-file -> b.txt/x [nothing there]",
      "to-file -> b.txt",
      "to-folder -> folder/",
      "to-nothing -> nowhere [nothing there]",
    ]);
    expect(metadata).toMatchObject({ path: bench.home, total: 8, truncated: false });
    expect(metadata?.entries).toContainEqual(
      expect.objectContaining({ name: "b.txt", type: "file", size: 2 }),
    );
    expect((await bench.call("ListDirectory", { show_hidden: true })).output).toMatch(/^\.hidden\n/);
  });

  it("gives a long one page by page", async () => {
    const bench = await Workbench.open();
    for (let i = 0; i < 2500; i++) writeFileSync(bench.at(`file-${String(i).padStart(4, "0")}`), "");
    const names: string[] = [];
    for (let after: string | undefined; ; ) {
      const { output, metadata } = await bench.call("ListDirectory", { limit: 400, ...(after && { after }) });
      const entries = metadata?.entries as { name: string }[] | undefined;
      names.push(...(entries ?? []).map((entry) => entry.name));
      after = metadata?.next_after as string | undefined;
      if (after === undefined) break;
      expect(output).toContain(`Continue with after="${after}"`);
    }
    expect(names).toEqual(Array.from({ length: 2500 }, (_, i) => `file-${String(i).padStart(4, "0")}`));
  });

  it("keeps a name with a line's end on one line, and shows one that is no UTF-8", async () => {
    const bench = await Workbench.open();
    writeFileSync(bench.at("two\nlines"), "");
    execFileSync("bash", ["-c", "touch $'caf\\xe9'"], { cwd: bench.home });
    const { output, metadata } = await bench.call("ListDirectory", {});
    expect(output.split("\n")).toEqual(["caf\\xe9", '"two\\nlines"']);
    expect(metadata?.entries).toContainEqual(
      expect.objectContaining({
        name: "caf\\xe9",
        type: "file",
        name_base64: Buffer.from("caf\xe9", "latin1").toString("base64"),
      }),
    );
    rmSync(bench.home, { recursive: true });
  });

  it("shows entries that cannot be looked at, instead of leaving them out", async () => {
    const bench = await Workbench.open();
    for (const name of ["a", "b"]) await bench.put(`locked/${name}`, "x");
    chmodSync(bench.at("locked"), 0o444);
    await asAnotherUser(bench, async () => {
      const { output, metadata } = await bench.call("ListDirectory", { path: "locked" });
      expect(output).toBe("a [permission denied]\nb [permission denied]");
      expect(metadata).toMatchObject({ total: 2 });
    });
    chmodSync(bench.at("locked"), 0o755);
  });

  it("says that it is empty, no directory, or not there", async () => {
    const bench = await Workbench.open();
    mkdirSync(bench.at("empty"));
    await bench.put("file", "x");
    expect((await bench.call("ListDirectory", { path: "empty" })).output).toBe("[The directory is empty]");
    expect((await failure(bench.call("ListDirectory", { path: "file" }))).message).toContain(
      "is not a directory",
    );
    expect((await failure(bench.call("ListDirectory", { path: "none" }))).code).toBe("NOT_FOUND");
    expect((await bench.call("ListDirectory", { path: "/" })).output).toContain("tmp/");
  });
});

describe("SystemInfo", () => {
  it("tells of the machine in lines and in metadata", async () => {
    const bench = await Workbench.open();
    const { output, metadata } = await bench.call("SystemInfo", {});
    expect(output).toMatch(/^platform: (Linux|Darwin|Windows)\nplatform_release: \S+\n/);
    expect(output).toContain(`\ncwd: ${bench.home}\n`);
    expect(metadata).toMatchObject({ cwd: bench.home, node_version: process.versions.node });
    for (const name of ["hostname", "user", "arch", "cpu", "memory", "disk", "uptime_seconds"]) {
      expect(metadata?.[name]).toBeTruthy();
    }
    expect(metadata).toHaveProperty("disk.used_bytes");
    expect(metadata).toHaveProperty("python_version");
    expect(bench.accepts("SystemInfo", { verbose: true })).toBe(false);
  });

  it.each(["grant", "policy", "relayPolicy"])(
    "says nothing of the user where the %s names folders",
    async (by) => {
      const bench = await Workbench.open();
      await bench.put("work/file", "");
      const held = (folder: string) => ({
        ...(by === "grant" && { grant: { ...bench.owner, paths: [folder] } }),
        ...(by === "policy" && { policy: { allowed_paths: [folder] } }),
        ...(by === "relayPolicy" && { relayPolicy: { allowed_paths: [folder] } }),
      });
      const { output, metadata = {} } = await bench.call("SystemInfo", {}, held(bench.at("work")));
      expect(Object.keys(metadata)).toEqual(expect.arrayContaining(["platform", "cpu", "memory"]));
      for (const name of ["user", "home", "cwd", "disk"]) expect(metadata).not.toHaveProperty(name);
      for (const told of [os.homedir(), bench.home]) expect(output).not.toContain(told);
      const inside = await bench.call("SystemInfo", {}, held(bench.home));
      expect(inside.metadata).toMatchObject({ cwd: bench.home, disk: { path: bench.home } });
      expect(inside.metadata).not.toHaveProperty("user");
    },
  );
});

describe("every tool", () => {
  it("describes itself and each of its parameters, and its effect is pinned", async () => {
    const { BUILT_IN_TOOLS } = await import("@matrx/shared/effects.ts");
    const bench = await Workbench.open();
    const names = [
      "Read",
      "Write",
      "ListDirectory",
      "Bash",
      "BashOutput",
      "TaskStop",
      "SystemInfo",
      "create_directory",
      "Move",
      "Delete",
      "delete_directory",
      "SystemLog",
    ];
    for (const name of names) {
      const tool = bench.tool(name);
      expect(BUILT_IN_TOOLS).toContain(name);
      expect(tool.description.length).toBeGreaterThan(40);
      const schema = jsonSchemaOf(tool.input, "output");
      expect(schema.additionalProperties).toBe(false);
      for (const property of Object.values(schema.properties ?? {}))
        expect(property).toHaveProperty("description");
    }
  });

  it("says in each of its errors what to do next", async () => {
    const bench = await Workbench.open();
    await bench.put("full/file", "x");
    for (const [tool, input] of [
      ["ListDirectory", { path: "none" }],
      ["ListDirectory", { path: "full/file" }],
      ["create_directory", { path: "full/file" }],
      ["create_directory", { path: "a/b", recursive: false }],
      ["Move", { source: "none", destination: "x" }],
      ["Move", { source: "full", destination: "full/in" }],
      ["Move", { source: "full/file", destination: "full" }],
      ["Move", { source: "full/file", destination: "x/y", create_directories: false }],
      ["Delete", { path: "full" }],
      ["Delete", { path: "/usr" }],
      ["Delete", { path: "a\0b" }],
      ["delete_directory", { path: "full/file" }],
      ["Bash", { command: "a\0b" }],
      ["Bash", { command: "sleep 10", timeout: 1 }],
      ["BashOutput", { bash_id: "none" }],
      ["TaskStop", { task_id: "none" }],
      ["SystemLog", { filter: "(" }],
    ] as const) {
      const error = await failure(bench.call(tool, input));
      expect(error, tool).toMatchObject({ hop: "tool", code: expect.stringMatching(/^[A-Z_]+$/) });
      expect(error.hint, error.message).toMatch(/\w{3}/);
    }
  });
});
