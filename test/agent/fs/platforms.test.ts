/** The parts of each system that compute only; macOS and Windows are not run here. */
import { ANYTHING } from "@matrx/shared/commands/subject.ts";
import { describe, expect, it } from "vitest";
import { ProtectedSet } from "../../../agent/fs/protected-paths.ts";
import { darwin, parsePs } from "../../../agent/platform/darwin/darwin.ts";
import { linux } from "../../../agent/platform/linux/linux.ts";
import { parseMountInfo } from "../../../agent/platform/linux/mounts.ts";
import { absolutePath, isWithin } from "../../../agent/platform/path-syntax.ts";
import { familyOf, type ProcessRow } from "../../../agent/platform/processes.ts";
import { windowsLog } from "../../../agent/platform/windows/system-log.ts";
import { windows } from "../../../agent/platform/windows/windows.ts";
import { noteOf } from "../../../agent/trash/trash-folder.ts";
import { failure, Workbench } from "../tools/workbench.ts";

describe("where an agent is reached", () => {
  it.each([
    [linux, "/home/me/.local/share/matrx/control", "/home/me/.local/share/matrx/control/agent.sock"],
    [darwin, "/Users/me/matrx", "/Users/me/matrx/agent.sock"],
    [linux, `/${"x".repeat(91)}`, `/${"x".repeat(91)}/agent.sock`.slice(0, 103)],
    [linux, `/${"x".repeat(92)}`, undefined],
    [darwin, `/${"\u00e9".repeat(46)}`, undefined],
    [windows, "C:\\Matrx", windows.controlEndpoint("c:\\matrx", "agent")],
  ])("on %o, for the folder %s: %s", (platform, folder, wanted) => {
    expect(platform.controlEndpoint(folder, "agent")).toBe(wanted);
  });

  it("is a pipe on Windows, with a name of its own for each folder and agent", () => {
    const names = [
      windows.controlEndpoint("C:\\a", "agent"),
      windows.controlEndpoint("C:\\a", "local"),
      windows.controlEndpoint("C:\\b", "agent"),
    ];
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(/^\\\\\.\\pipe\\matrx-[0-9a-f]{32}-(agent|local)$/);
  });
});

describe("a path as written", () => {
  it.each([
    [linux, "a/../b", "/home/me", "/home/me/b"],
    [linux, "~/x", "/srv", "/home/me/x"],
    [linux, "~other/x", "/srv", "/srv/~other/x"],
    [linux, "a:b\\c", "/srv", "/srv/a:b\\c"],
    [darwin, "~", "/srv", "/home/me"],
    [windows, "a/b", "C:\\Users\\me", "C:\\Users\\me\\a\\b"],
    [windows, "D:/Projects", "C:\\Users\\me", "D:\\Projects"],
    [windows, "~\\x", "C:\\work", "C:\\home\\me\\x"],
    [windows, "\\\\server\\share\\x", "C:\\work", "\\\\server\\share\\x"],
  ])("of %o: %s in %s is %s", (platform, text, cwd, wanted) => {
    expect(platform.path.normalize(absolutePath(text, cwd, platform, "/home/me"))).toBe(
      platform.path.normalize(wanted),
    );
  });

  it.each([
    [linux, "C:\\x", "Windows path"],
    [linux, "c:/x", "Windows path"],
    [linux, "C:", "Windows path"],
    [darwin, "\\\\server\\x", "Windows network path"],
    [windows, "\\\\.\\PhysicalDrive0", "device paths"],
    [windows, "\\\\?\\C:\\x", "device paths"],
    [windows, "file.txt:hidden", "alternate stream"],
    [windows, "C:\\temp\\NUL.txt", "a device"],
    [windows, "folder\\com1", "a device"],
    [windows, "secret.", "dot or a space"],
    [windows, "folder \\x", "dot or a space"],
  ])("of %o: %s is refused", (platform, text, why) => {
    expect(() => absolutePath(text, platform.path.sep, platform)).toThrow(why);
  });
});

describe("what lies within a folder", () => {
  it.each([
    [linux, "/a/b", "/a", true],
    [linux, "/ab", "/a", false],
    [linux, "/A/b", "/a", false],
    [linux, "/x", "/", true],
    [darwin, "/Users/Me/x", "/users/me", true],
    [darwin, "/cafe\u0301/x", "/caf\u00e9", true],
    [windows, "C:\\Users\\Me\\x", "c:\\users\\me", true],
    [windows, "C:\\x", "C:\\", true],
    [windows, "D:\\x", "C:\\", false],
  ])("on %o: %s in %s is %s", (platform, path, folder, wanted) => {
    expect(isWithin(path, folder, platform)).toBe(wanted);
  });

  it.each([
    [linux, "/home/me/.config/matrx", "/home/me/.config/matrx/key", "/home/me/.config/MATRX/key"],
    [darwin, "/Users/me/Library/matrx", "/users/ME/library/Matrx/key", "/Users/me/Library/matrx2"],
    [windows, "C:\\Users\\me\\matrx", "c:\\users\\ME\\Matrx\\key", "C:\\Users\\me\\matrx2"],
  ])("on %o is closed when the folder is protected", (platform, folder, closed, open) => {
    const set = new ProtectedSet({ closed: [folder], program: [] }, platform);
    expect(() => set.check(closed, closed, "look")).toThrow("belongs to Matrx itself");
    expect(() => set.check(open, open, "look")).not.toThrow();
    const above = platform.path.dirname(folder);
    expect(() => set.check(above, above, "replace")).toThrow("leads to");
    expect(() => set.check(above, above, "look")).not.toThrow();
  });
});

describe("the shell", () => {
  it.each([
    [linux, ["/bin/bash"], { PATH: "/x" }, "/bin/bash"],
    [linux, ["/nix/bin/bash"], { PATH: "relative:/nix/bin" }, "/nix/bin/bash"],
    [linux, [], { PATH: "/x" }, "/bin/sh"],
    [darwin, ["/bin/bash", "/opt/homebrew/bin/bash"], {}, "/bin/bash"],
    [
      windows,
      ["C:\\Program Files\\PowerShell\\7\\pwsh.exe"],
      {},
      "C:\\Program Files\\PowerShell\\7\\pwsh.exe",
    ],
    [windows, ["D:\\ps\\pwsh.exe"], { PATH: "D:\\ps" }, "D:\\ps\\pwsh.exe"],
    [
      windows,
      [],
      { SystemRoot: "C:\\WINNT" },
      "C:\\WINNT\\System32\\WindowsPowerShell\\v1.0\\powershell.exe",
    ],
  ])("of %o with %j is chosen", (platform, files, env, wanted) => {
    expect(platform.shell(env, (file) => files.some((one) => one === file)).file).toBe(wanted);
  });

  it.each([
    [linux, "/bin/bash", "[[ x && ls ]]", false],
    [linux, "/bin/sh", "[[ x && ls ]]", true],
    [darwin, "/bin/sh", "cd . && ls", false],
    [windows, "", "ls", true],
  ])("of %o with %j: whether %j may run anything, it knows", (platform, file, command, isUnknown) => {
    const { subjects } = platform.shell({}, (path) => path === file);
    expect(subjects(command).includes(ANYTHING)).toBe(isUnknown);
  });

  it("of Windows gets its script without any quoting", () => {
    const args = windows.shell({}, () => false).argumentsFor("C:\\it's here");
    expect(args).toContain("-NonInteractive");
    const script = Buffer.from(args[args.indexOf("-EncodedCommand") + 1] ?? "", "base64").toString("utf16le");
    expect(script).toContain("$__job = 'C:\\it''s here'");
    expect(script).toContain("exit $__rc");
  });
});

describe("the processes of a job", () => {
  const row = (pid: number, parent: number, group = pid, session = group, began = "1"): ProcessRow => ({
    pid,
    parent,
    group,
    session,
    began,
  });
  const root = { pid: 10, began: "1", mark: "MATRX_JOB=x" };

  it.each([
    [
      "group, session and descendants",
      [row(10, 1), row(11, 10, 10), row(12, 1, 12, 10), row(13, 11), row(99, 1)],
      [],
      [10, 11, 12, 13],
    ],
    ["what carries the mark, and its descendants", [row(50, 1), row(51, 50), row(99, 1)], [50], [50, 51]],
    ["not a group whose number was given anew", [row(10, 1, 10, 10, "2"), row(11, 10, 10)], [], []],
    [
      "not this program itself, though a job began it",
      [row(10, 1), row(process.pid, 10), row(60, process.pid)],
      [],
      [10],
    ],
  ])("are its %s", (_what, rows, marked, wanted) => {
    expect(familyOf(root, rows, new Set(marked)).sort((a, b) => a - b)).toEqual(wanted);
  });

  it("are read from what ps of macOS prints", () => {
    const text =
      "    1     0     1 Ss   Mon Nov  2 10:00:00 2026    \n  77     1    77 Z+   Mon Nov  2 10:00:01 2026\n";
    expect(parsePs(text)).toEqual([
      { pid: 1, parent: 0, group: 1, session: 1, began: "Mon Nov  2 10:00:00 2026" },
    ]);
  });
});

describe("mount points", () => {
  it("are read from what Linux tells, with what is odd in their names", () => {
    const text =
      "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/root rw\n" +
      "90 22 0:45 / /mnt/my\\040disk\\134x rw - vfat /dev/sdb1 rw\n";
    expect(parseMountInfo(text)).toEqual([
      { device: "259:2", root: "/", point: "/", type: "ext4" },
      { device: "0:45", root: "/", point: "/mnt/my disk\\x", type: "vfat" },
    ]);
  });
});

describe("the trash", () => {
  const asked = { home: "/home/me", env: {}, user: 1000, top: "/mnt/disk" };
  const parts = { files: "files", info: "info" };
  const atTop = [
    { base: "/mnt/disk", names: [".Trash", "1000"], ...parts, writtenFrom: "/mnt/disk", isShared: true },
    { base: "/mnt/disk", names: [".Trash-1000"], ...parts, writtenFrom: "/mnt/disk" },
  ];

  it.each([
    [linux, asked, [{ base: "/home/me", names: [".local", "share", "Trash"], ...parts }, ...atTop]],
    [
      linux,
      { ...asked, env: { XDG_DATA_HOME: "/data" } },
      [{ base: "/data", names: ["Trash"], ...parts }, ...atTop],
    ],
    [linux, { ...asked, home: "" }, atTop],
    [
      darwin,
      { ...asked, top: "/Volumes/disk" },
      [
        { base: "/home/me", names: [".Trash"] },
        { base: "/Volumes/disk", names: [".Trashes", "1000"] },
      ],
    ],
  ])("of %o for %j is looked for in order", ({ trash }, question, wanted) => {
    expect(trash.by === "folder" && trash.folders(question)).toEqual(wanted);
  });

  it.each([
    [false, "::DeleteFile("],
    [true, "::DeleteDirectory("],
  ])("of Windows is reached by its own program; a folder: %s", (isFolder, call) => {
    if (windows.trash.by !== "program") throw new Error("not by a program");
    const { file, args } = windows.trash.command("C:\\it's here", isFolder, { SystemRoot: "D:\\Win" });
    expect(file).toBe("D:\\Win\\System32\\WindowsPowerShell\\v1.0\\powershell.exe");
    const script = Buffer.from(args.at(-1) ?? "", "base64").toString("utf16le");
    expect(script).toContain("$path = 'C:\\it''s here'");
    expect(script).toContain(`${call}$path, 'OnlyErrorDialogs', 'SendToRecycleBin', 'ThrowException')`);
    // Before that: a drive without a recycle bin would lose it for good.
    expect(script.indexOf("-ne 'Fixed'")).toBeLessThan(script.indexOf(call));
  });

  it("keeps a note in local time, with the path in percent", () => {
    const when = new Date(2026, 1, 3, 4, 5, 6);
    expect(noteOf("/home/me/caf\u00e9 %/a\nb", undefined, when)).toBe(
      "[Trash Info]\nPath=/home/me/caf%C3%A9%20%25/a%0Ab\nDeletionDate=2026-02-03T04:05:06\n",
    );
    expect(noteOf("/mnt/disk/x/y", "/mnt/disk", when)).toContain("\nPath=x/y\n");
  });
});

describe("the system's log", () => {
  it.each([
    [linux, "journalctl", "/var/log/journal", /^--no-pager --quiet --output=short-iso --lines=50$/],
    [darwin, "/usr/bin/log", "/private/var/db/diagnostics", /^show --style syslog --last 10m$/],
  ])("of %o is printed by %s", ({ systemLog }, file, place, wanted) => {
    const [first] = systemLog;
    expect(first).toMatchObject({ by: "program", file, place });
    expect(first?.by === "program" && first.argumentsFor(50).join(" ")).toMatch(wanted);
  });

  it("of Windows is turned round, as the newest come first there", () => {
    const [first] = windowsLog({ SystemRoot: "D:\\Win" });
    expect(first).toMatchObject({ place: "D:\\Win\\System32\\winevt\\Logs" });
    const args = first?.by === "program" ? first.argumentsFor(50) : [];
    const script = Buffer.from(args.at(-1) ?? "", "base64").toString("utf16le");
    expect(script).toContain("Get-WinEvent -LogName System -MaxEvents 50");
    expect(script).toContain("[array]::Reverse($events)");
  });
});

describe("a folder that is allowed", () => {
  it("is not its namesake in other letters, where the volume tells them apart", async () => {
    const bench = await Workbench.open({ platform: { ...linux, fold: darwin.fold } });
    await bench.put("Open/file", "inside");
    await bench.put("open/file", "outside");
    const policy = { allowed_paths: [bench.at("Open")] };
    expect((await bench.call("Read", { file_path: "Open/file" }, { policy })).output).toContain("inside");
    const error = await failure(bench.call("Read", { file_path: "open/file" }, { policy }));
    expect(error.code).toBe("PERMISSION_DENIED");
  });
});
