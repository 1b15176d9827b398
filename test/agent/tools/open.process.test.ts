/** What is opened on the device's screen, by a handler that notes what it was given. */
import { mkdir, symlink } from "node:fs/promises";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import { describe, expect, it } from "vitest";
import { currentPlatform } from "../../../agent/platform/current.ts";
import { FakePrograms } from "../../helpers/fake-programs.ts";
import { failure, isAlive, Workbench } from "./workbench.ts";

const GUEST: GrantScope = { id: makeGrantId(), owner: false, effects: ["read", "write", "execute"] };

/** It may write in its folder, and nowhere where programs that open things are chosen. */
const guestAt = (bench: Workbench): GrantScope => ({ ...GUEST, paths: [bench.home] });
const { DISPLAY: _x, WAYLAND_DISPLAY: _w, ...headless } = process.env;

/** Notes each argument on a line of its own, and what it could have found out about the agent. */
const NOTE = 'printf "%s\\n" "$#" "$@" "secret=$MATRX_HOME$RELAY_KEYS" "cwd=$PWD" . > "$here/note"';

async function withHandler(script = NOTE, name = "xdg-open") {
  const programs = new FakePrograms().add(name, script);
  const env = {
    ...headless,
    DISPLAY: ":0",
    PATH: programs.path,
    MATRX_HOME: "/secret",
    RELAY_KEYS: "secret",
  };
  // For callers with limits, only the system's programs are found.
  const platform = { ...currentPlatform(), systemPath: () => programs.path };
  return { programs, bench: await Workbench.open({ env, platform }) };
}

describe("OpenUrl", () => {
  it("hands an address to the handler, and does not say more than it knows", async () => {
    const { bench, programs } = await withHandler();
    const { output, metadata } = await bench.call("OpenUrl", { url: "https://example.com/a b?q=1&r=2#x" });
    expect(output).toContain("passed to xdg-open; whether a window opened is not known");
    expect(metadata).toMatchObject({ url: "https://example.com/a%20b?q=1&r=2#x", handed_to: "xdg-open" });
    const [count, address, secret] = (await programs.said("note")).split("\n");
    expect([count, address, secret]).toEqual(["1", "https://example.com/a%20b?q=1&r=2#x", "secret="]);
  });

  it.each([
    "https://example.com/;touch$IFS/tmp/x",
    "https://example.com/$(id)`id`'\"|&",
    "mailto:ann@example.com?subject=hi",
    "  https://example.com/--help\n",
  ])("hands over one word, whatever is in it: %j", async (url) => {
    const { bench, programs } = await withHandler();
    await bench.call("OpenUrl", { url });
    const note = (await programs.said("note")).split("\n");
    expect(note.slice(0, 2)).toEqual(["1", new URL(url).href]);
  });

  it.each([
    ["file:///etc/passwd", "PERMISSION_DENIED"],
    ["FILE:/etc/passwd", "PERMISSION_DENIED"],
    ["java\nscript:alert(1)", "PERMISSION_DENIED"],
    ["javascript:alert(1)", "PERMISSION_DENIED"],
    ["data:text/html,x", "PERMISSION_DENIED"],
    ["vscode://x/y", "PERMISSION_DENIED"],
    ["ms-msdt:/id", "PERMISSION_DENIED"],
    ["mailto:a@b.c?attach=/etc/passwd", "PERMISSION_DENIED"],
    ["mailto:a@b.c?cc=x&%61ttachment=/etc/passwd", "PERMISSION_DENIED"],
    ["--help", "INVALID_PARAMETERS"],
    ["example.com", "INVALID_PARAMETERS"],
    ["/etc/passwd", "INVALID_PARAMETERS"],
  ])("refuses %j", async (url, code) => {
    const { bench, programs } = await withHandler();
    const error = await failure(bench.call("OpenUrl", { url }));
    expect(error.code).toBe(code);
    expect(error.hint).toBeTruthy();
    expect(programs.has("note")).toBe(false);
  });

  it("says that there is no display before anything is started", async () => {
    const programs = new FakePrograms().add("xdg-open", NOTE);
    const bench = await Workbench.open({ env: { ...headless, PATH: programs.path } });
    const error = await failure(bench.call("OpenUrl", { url: "https://example.com/" }));
    expect(error).toMatchObject({ code: "TOOL_EXECUTION_FAILED", details: { reason: "NO_DISPLAY" } });
    expect(error.hint).toContain("DISPLAY");
  });

  it("tells what the handler's failure means", async () => {
    const { bench } = await withHandler("exit 3");
    const error = await failure(bench.call("OpenUrl", { url: "https://example.com/" }));
    expect(error).toMatchObject({ code: "TOOL_EXECUTION_FAILED", details: { exit_code: 3 } });
    expect(error.message).toContain("no program was found to open it");
  });

  it("names what could open it when none is there", async () => {
    const bench = await Workbench.open({ env: { ...headless, DISPLAY: ":0", PATH: "/nowhere:." } });
    const error = await failure(bench.call("OpenUrl", { url: "https://example.com/" }));
    expect(error.details).toMatchObject({ reason: "NO_PROGRAM" });
    expect(error.message).toContain("xdg-open");
  });
});

describe("OpenPath", () => {
  it("opens a file by its whole path, links followed", async () => {
    const { bench, programs } = await withHandler();
    const file = await bench.put("-notes $(id).txt", "hello");
    await symlink(file, bench.at("link"));
    const { metadata } = await bench.call("OpenPath", { path: "link" });
    expect(metadata).toMatchObject({ path: file, handed_to: "xdg-open" });
    expect((await programs.said("note")).split("\n").slice(0, 2)).toEqual(["1", file]);
  });

  it("lets the owner open a program, as Bash would", async () => {
    const { bench, programs } = await withHandler();
    const file = await bench.put("run.desktop", "[Desktop Entry]");
    await bench.call("OpenPath", { path: "run.desktop" });
    expect(await programs.said("note")).toContain(file);
  });

  it.each<[string, string, Uint8Array | string]>([
    ["text", "a.txt", "hello"],
    ["an empty text", "empty.md", ""],
    ["a picture", "a.png", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
    ["a PDF in capitals", "A.PDF", "%PDF-1.7"],
    ["an office document", "a.docx", "PK\x03\x04"],
  ])("lets a guest open %s", async (_what, name, content) => {
    const { bench, programs } = await withHandler();
    const file = await bench.put(name, content);
    await bench.call("OpenPath", { path: name }, { grant: guestAt(bench) });
    expect(await programs.said("note")).toContain(file);
  });

  it("lets a guest open a folder", async () => {
    const { bench, programs } = await withHandler();
    await mkdir(bench.at("photos"));
    await bench.call("OpenPath", { path: "photos" }, { grant: guestAt(bench) });
    expect(await programs.said("note")).toContain(bench.at("photos"));
  });

  const elf = "\x7fELF\x02\x01\x01\x00";
  it.each<[string, string, string]>([
    ["a desktop entry", "x.desktop", "[Desktop Entry]\nExec=id"],
    ["a script", "x.sh", "id"],
    ["a Windows script", "x.bat", "id"],
    ["a link of Windows", "x.lnk", "L"],
    ["a command of macOS", "x.command", "id"],
    ["a page, which runs scripts", "x.html", "<p>"],
    ["a drawing, which runs scripts", "x.svg", "<svg/>"],
    ["a document with macros", "x.docm", "PK\x03\x04"],
    ["a file without a kind", "x", "hello"],
    ["a second extension", "report.pdf.exe", "MZ\x90\x00"],
    ["a program named as text", "x.txt", elf],
    ["a program named as a picture", "x.png", elf],
    ["a script named as text", "x.txt", "\n#!/bin/sh\nid"],
    ["a script named as a picture", "x.png", "#!/bin/sh\nid"],
    ["a desktop entry named as text", "x.txt", "# comment\n[Desktop Entry]\nExec=id"],
    ["bytes named as text", "x.txt", "a\0b"],
  ])("does not let a guest open %s", async (_what, name, content) => {
    const { bench, programs } = await withHandler();
    await bench.put(name, content);
    const error = await failure(bench.call("OpenPath", { path: name }, { grant: guestAt(bench) }));
    expect(error.code).toBe("PERMISSION_DENIED");
    expect(error.message).toMatch(/this call may not run programs/);
    expect(programs.has("note")).toBe(false);
  });

  it("does not let a guest reach a program by a link that is named as text", async () => {
    const { bench } = await withHandler();
    await bench.put("x.sh", "id");
    await symlink("x.sh", bench.at("notes.txt"));
    const error = await failure(bench.call("OpenPath", { path: "notes.txt" }, { grant: guestAt(bench) }));
    expect(error.code).toBe("PERMISSION_DENIED");
  });

  it.each<[string, GrantScope, Policy, Policy | undefined]>([
    ["the device's policy limits paths", { ...GUEST, owner: true }, { allowed_paths: ["/"] }, undefined],
    ["the owner's policy limits paths", { ...GUEST, owner: true }, {}, { allowed_paths: ["/"] }],
    ["the grant limits paths", { ...GUEST, owner: true, paths: ["/"] }, {}, undefined],
    ["the grant leaves Bash out", { ...GUEST, owner: true, tools: ["OpenPath"] }, {}, undefined],
    ["the policy leaves Bash out", { ...GUEST, owner: true }, { allowed_tools: ["OpenPath"] }, undefined],
  ])("opens no program for the owner either where Bash is closed: %s", async (_why, grant, policy, relay) => {
    const { bench } = await withHandler();
    await bench.put("x.desktop", "[Desktop Entry]");
    const options = { grant, policy, ...(relay && { relayPolicy: relay }) };
    const error = await failure(bench.call("OpenPath", { path: "x.desktop" }, options));
    expect(error.code).toBe("PERMISSION_DENIED");
  });

  it("opens nothing outside the allowed folders, nor what belongs to Matrx", async () => {
    const { bench, programs } = await withHandler();
    const grant = { ...bench.owner, paths: [bench.at("work")] };
    await bench.put("work/a.txt", "a");
    await bench.put("other.txt", "a");
    await symlink("../other.txt", bench.at("work/link.txt"));
    for (const path of ["other.txt", "work/link.txt", "/etc/passwd"]) {
      expect((await failure(bench.call("OpenPath", { path }, { grant }))).code).toBe("PERMISSION_DENIED");
    }
    expect((await failure(bench.call("OpenPath", { path: bench.state }))).code).toBe("PERMISSION_DENIED");
    expect((await failure(bench.call("OpenPath", { path: "no.txt" }))).code).toBe("NOT_FOUND");
    expect(programs.has("note")).toBe(false);
  });
});

describe("open_app", () => {
  it("starts a program with its arguments, apart from the agent and without its secrets", async () => {
    const { bench, programs } = await withHandler(`${NOTE}; echo $$ > "$here/pid"; exec sleep 60`, "paint");
    const { metadata, output } = await bench.call("open_app", {
      app: "paint",
      args: ["--new", "a b", "$(id)", ""],
    });
    const pid = Number(await programs.said("pid"));
    try {
      expect(metadata).toMatchObject({ app: "paint", program: "paint", pid, running: true });
      expect(output).toContain(`process ${pid}`);
      const note = (await programs.said("note")).split("\n");
      expect(note.slice(0, 7)).toEqual(["4", "--new", "a b", "$(id)", "", "secret=", `cwd=${bench.home}`]);
      expect(isAlive(pid)).toBe(true);
    } finally {
      process.kill(pid, "SIGKILL");
    }
  });

  it("reports a program that ends at once, well or badly", async () => {
    const { bench } = await withHandler("exit 0", "quick");
    expect((await bench.call("open_app", { app: "quick" })).output).toContain(
      "already ended without an error",
    );
    const { bench: other } = await withHandler("exit 7", "broken");
    const error = await failure(other.call("open_app", { app: "broken" }));
    expect(error).toMatchObject({ code: "TOOL_EXECUTION_FAILED", details: { exit_code: 7 } });
  });

  it("reports a program that is not there, or is none", async () => {
    const { bench, programs } = await withHandler("", "paint");
    expect((await failure(bench.call("open_app", { app: "pain" }))).details).toMatchObject({
      reason: "NO_PROGRAM",
    });
    programs.add("odd", "").put("odd", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 1, 2, 3]));
    const error = await failure(bench.call("open_app", { app: "odd" }));
    expect(error.code).toBe("TOOL_EXECUTION_FAILED");
  });

  it("says what may be wrong when the working directory is gone", async () => {
    const { bench } = await withHandler("exit 0", "paint");
    bench.session.cwd = bench.at("gone");
    const error = await failure(bench.call("open_app", { app: "paint" }));
    expect(error).toMatchObject({ code: "TOOL_EXECUTION_FAILED", details: { system_code: "ENOENT" } });
    expect(error.hint).toContain(bench.at("gone"));
  });

  it.each(["--help", "bin/tool", "./tool", "../tool"])("takes no %s for a name", async (app) => {
    const { bench } = await withHandler();
    expect((await failure(bench.call("open_app", { app }))).code).toBe("INVALID_PARAMETERS");
  });

  it("starts a desktop entry by its id", async () => {
    const { bench, programs } = await withHandler(NOTE, "gtk-launch");
    await bench.put("share/applications/org.example.Paint.desktop", "[Desktop Entry]");
    const env = { ...headless, DISPLAY: ":0", PATH: programs.path, XDG_DATA_DIRS: bench.at("share") };
    const other = await Workbench.open({ env });
    for (const app of ["org.example.Paint", "org.example.Paint.desktop"]) {
      const { output } = await other.call("open_app", { app, args: ["a.png"] });
      expect(output).toContain("passed to gtk-launch");
      const note = (await programs.said("note")).split("\n");
      expect(note.slice(0, 4)).toEqual(["3", "--", "org.example.Paint", "a.png"]);
    }
  });

  it("holds everybody to the applications that both policies name", async () => {
    const { bench } = await withHandler("exit 0", "paint");
    const start = (policy: Policy, relayPolicy: Policy = {}) =>
      bench.call("open_app", { app: "paint", args: ["--any"] }, { policy, relayPolicy });
    await start({ allowed_apps: ["code", "paint"] }, { allowed_apps: ["paint"] });
    for (const [policy, relay] of [
      [{ allowed_apps: [] }, {}],
      [{ allowed_apps: ["code"] }, {}],
      [{ allowed_apps: ["Paint"] }, {}],
      [{ allowed_apps: ["paint"] }, { allowed_apps: ["code"] }],
      [{}, { allowed_apps: ["code"] }],
    ] as const) {
      const error = await failure(start(policy as Policy, relay as Policy));
      expect(error).toMatchObject({ code: "PERMISSION_DENIED", details: { app: "paint" } });
    }
  });

  it("starts for a guest only what is named, and not what another path gives the same name", async () => {
    const { bench, programs } = await withHandler("exit 0", "paint");
    const start = (app: string, policy: Policy) =>
      bench.call("open_app", { app }, { grant: guestAt(bench), policy });
    expect((await failure(start("paint", {}))).message).toContain("no policy lists the applications");
    await start("paint", { allowed_apps: ["paint"] });
    const error = await failure(start(programs.at("paint"), { allowed_apps: ["paint"] }));
    expect(error.code).toBe("PERMISSION_DENIED");
  });

  it("gives a guest's application web addresses and documents, and no options", async () => {
    const { bench, programs } = await withHandler(NOTE, "paint");
    await bench.put("a.txt", "hello");
    await bench.put("x.sh", "id");
    const options = { grant: guestAt(bench), policy: { allowed_apps: ["paint"] } };
    const start = (...args: string[]) => bench.call("open_app", { app: "paint", args }, options);
    await start("https://example.com", "a.txt");
    const note = (await programs.said("note")).split("\n");
    expect(note.slice(0, 5)).toEqual(["2", "https://example.com/", bench.at("a.txt"), "secret=", "cwd=/"]);
    for (const arg of ["--renderer-cmd-prefix=id", "-e", "x.sh"]) {
      expect((await failure(start("a.txt", arg))).code).toBe("PERMISSION_DENIED");
    }
    for (const arg of ["file:///etc/passwd", "javascript:alert(1)", "no.txt", "id;id"]) {
      expect((await failure(start(arg))).code).toBe("NOT_FOUND");
    }
  });

  it("holds arguments to the device's folders, the owner's too", async () => {
    const { bench } = await withHandler("exit 0", "paint");
    await bench.put("work/a.txt", "a");
    await bench.put("other.txt", "a");
    const policy = { allowed_apps: ["paint"], allowed_paths: [bench.at("work")] };
    const start = (arg: string) => bench.call("open_app", { app: "paint", args: [arg] }, { policy });
    await start("work/a.txt");
    for (const arg of ["other.txt", "work/../other.txt", "/etc/passwd", "--load=/etc/passwd"]) {
      expect((await failure(start(arg))).code).toBe("PERMISSION_DENIED");
    }
  });

  it("wants a display", async () => {
    const programs = new FakePrograms().add("paint", "exit 0");
    const bench = await Workbench.open({ env: { ...headless, PATH: programs.path } });
    const error = await failure(bench.call("open_app", { app: "paint" }));
    expect(error.details).toMatchObject({ reason: "NO_DISPLAY" });
  });
});
