/** The commands of each system's desktop, and what is read from what they print. */
import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { darwin, darwinDesktop, parseProcessList } from "../../../agent/platform/darwin/darwin.ts";
import { linuxDesktop } from "../../../agent/platform/linux/desktop.ts";
import { linuxDistribution } from "../../../agent/platform/linux/distribution.ts";
import { linux } from "../../../agent/platform/linux/linux.ts";
import type { LaunchCommand } from "../../../agent/platform/platform.ts";
import { windowsDesktop } from "../../../agent/platform/windows/desktop.ts";
import { powershellLiteral, windowsArgument } from "../../../agent/platform/windows/powershell.ts";
import { parseInventory } from "../../../agent/platform/windows/process-list.ts";
import { windows } from "../../../agent/platform/windows/windows.ts";
import { protectionOf } from "../../../agent/tools/stop-process.ts";
import { temporaryFolder } from "../../helpers/folder.ts";

const X11 = { DISPLAY: ":1" };
const WAYLAND = { DISPLAY: ":1", WAYLAND_DISPLAY: "wayland-0" };
const WINDOWS = { SystemRoot: "D:\\Windows" };
const none = () => false;

const lines = (commands: readonly LaunchCommand[]) => commands.map(({ program, args }) => [program, ...args]);

/** What PowerShell is told to do. */
function scriptOf(args: readonly string[]): string {
  return Buffer.from(args.at(-1) ?? "", "base64").toString("utf16le");
}

function windowsScripts(commands: readonly LaunchCommand[]): string[] {
  return commands.map(({ program, args }) => {
    expect(program).toBe("D:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe");
    return scriptOf(args);
  });
}

describe("is there a screen", () => {
  it.each([
    ["Linux without", linuxDesktop, {}, false],
    ["Linux with an empty one", linuxDesktop, { DISPLAY: "" }, false],
    ["X11", linuxDesktop, X11, true],
    ["Wayland", linuxDesktop, { WAYLAND_DISPLAY: "wayland-0" }, true],
    ["macOS", darwinDesktop, {}, true],
    ["Windows", windowsDesktop, {}, true],
  ])("%s", (_what, desktop, env, has) => {
    expect(desktop.hasDisplay(env)).toBe(has);
  });
});

describe("is that screen there", () => {
  const socket = "/tmp/.X11-unix/X1";
  it.each([
    ["none is named", linuxDesktop, {}, [socket], false],
    ["X11", linuxDesktop, X11, [socket], true],
    ["X11, with a screen's number", linuxDesktop, { DISPLAY: "unix:1.0" }, [socket], true],
    ["X11, another one", linuxDesktop, X11, ["/tmp/.X11-unix/X0"], false],
    ["X11 by its socket", linuxDesktop, { DISPLAY: "/run/x" }, ["/run/x"], true],
    ["X11 of another machine, which only an attempt tells", linuxDesktop, { DISPLAY: "tv:0" }, [], true],
    ["X11 through ssh", linuxDesktop, { DISPLAY: "localhost:10.0" }, [], true],
    ["Wayland", linuxDesktop, { ...WAYLAND, XDG_RUNTIME_DIR: "/run/1" }, ["/run/1/wayland-0"], true],
    ["Wayland that has ended", linuxDesktop, { ...WAYLAND, XDG_RUNTIME_DIR: "/run/1" }, [], false],
    ["Wayland by its socket", linuxDesktop, { WAYLAND_DISPLAY: "/run/w" }, ["/run/w"], true],
    ["Wayland without a folder for it", linuxDesktop, { WAYLAND_DISPLAY: "wayland-0" }, [], true],
    ["macOS", darwinDesktop, {}, [], true],
    ["Windows", windowsDesktop, {}, [], true],
  ])("%s", (_what, desktop, env, sockets, isThere) => {
    expect(desktop.isDisplayThere(env, (path) => sockets.includes(path))).toBe(isThere);
  });
});

describe("opening", () => {
  it("is left to what the system has for it", () => {
    const url = "https://example.com/";
    expect(lines(linuxDesktop.openers(url, X11))).toEqual([
      ["xdg-open", url],
      ["gio", "open", url],
      ["wslview", url],
    ]);
    expect(lines(darwinDesktop.openers(url, {}))).toEqual([["/usr/bin/open", url]]);
    const [script] = windowsScripts(windowsDesktop.openers("C:\\it's $(x)", WINDOWS));
    expect(script?.split("\n").at(-1)).toBe("Start-Process -FilePath 'C:\\it''s $(x)'");
  });

  it.each([
    ["photos", false, false],
    [".config", false, false],
    ["Tool.app", true, false],
    ["x.{21EC2020-3AEA-1069-A2DD-08002B30309D}", true, false],
  ])("takes the folder %s for what it is", (name, more, onLinux) => {
    expect(darwinDesktop.isMoreThanFolder(name)).toBe(more);
    expect(windowsDesktop.isMoreThanFolder(name)).toBe(more);
    expect(linuxDesktop.isMoreThanFolder(name)).toBe(onLinux);
  });
});

describe("starting an application", () => {
  it("goes by program, else by desktop entry, on Linux", () => {
    expect(lines(linuxDesktop.launchers("code", ["a"], X11, none))).toEqual([["code", "a"]]);
    expect(lines(linuxDesktop.launchers("code.desktop", ["a"], X11, (id) => id === "code"))).toEqual([
      ["code.desktop", "a"],
      ["gtk-launch", "--", "code", "a"],
    ]);
    expect(lines(linuxDesktop.launchers("/opt/x", [], X11, () => true))).toEqual([["/opt/x"]]);
  });

  it.each([
    [[], ["-a", "Safari"]],
    [["https://example.com"], ["-a", "Safari", "https://example.com"]],
    [
      ["/a b", "https://x"],
      ["-a", "Safari", "/a b", "https://x"],
    ],
    [["--private"], ["-a", "Safari", "--args", "--private"]],
    [
      ["/a", "-W"],
      ["-a", "Safari", "--args", "/a", "-W"],
    ],
  ])("goes by open -a on macOS: %j", (args, expected) => {
    expect(lines(darwinDesktop.launchers("Safari", args, {}, none))).toEqual([
      ["/usr/bin/open", ...expected],
    ]);
  });

  it("goes by Start-Process on Windows, its arguments quoted for the program and for PowerShell", () => {
    const args = ["a b", 'say "hi"', "it's", "C:\\dir\\", "C:\\a dir\\"];
    const [script] = windowsScripts(windowsDesktop.launchers("code", args, WINDOWS, none));
    expect(script?.split("\n").at(-1)).toBe(
      `Start-Process -FilePath 'code' -ArgumentList '"a b" "say \\"hi\\"" it''s C:\\dir\\ "C:\\a dir\\\\"'`,
    );
    const [bare] = windowsScripts(windowsDesktop.launchers("code", [], WINDOWS, none));
    expect(bare).toMatch(/-FilePath 'code'$/);
  });

  it.each([
    ["plain", "plain"],
    ["", '""'],
    ["a b", '"a b"'],
    ['a"b', '"a\\"b"'],
    ['a\\"b', '"a\\\\\\"b"'],
    ["a b\\", '"a b\\\\"'],
    ["a\\b", "a\\b"],
  ])("gives Windows the argument %j", (text, expected) => {
    expect(windowsArgument(text)).toBe(expected);
  });

  it("closes no literal of PowerShell early, by whatever quote", () => {
    expect(powershellLiteral("a'b\u2018c\u2019d\u201ae\u201b")).toBe(
      "'a''b\u2018\u2018c\u2019\u2019d\u201a\u201ae\u201b\u201b'",
    );
  });
});

describe("taking a picture", () => {
  const taken = (
    desktop: typeof linuxDesktop,
    monitor: number | string | undefined,
    env: NodeJS.ProcessEnv,
  ) => desktop.cameras(monitor, env).map(({ program, argsFor }) => [program, ...argsFor("/t/p.png", "png")]);

  it("is asked of ffmpeg on X11, of the compositor's own on Wayland", () => {
    expect(taken(linuxDesktop, undefined, X11).map(([program]) => program)).toEqual([
      "ffmpeg",
      "gnome-screenshot",
      "spectacle",
    ]);
    expect(taken(linuxDesktop, undefined, X11)[0]?.join(" ")).toContain("-f x11grab -draw_mouse 0 -i :1 ");
    expect(taken(linuxDesktop, undefined, WAYLAND)).toEqual([
      ["grim", "-t", "png", "/t/p.png"],
      ["gnome-screenshot", "-f", "/t/p.png"],
      ["spectacle", "-b", "-n", "-f", "-o", "/t/p.png"],
    ]);
  });

  it("is asked of nobody who cannot choose the monitor", () => {
    expect(taken(linuxDesktop, 1, X11)).toEqual([]);
    expect(taken(linuxDesktop, 1, WAYLAND)).toEqual([]);
    expect(taken(linuxDesktop, "DP-1", WAYLAND)).toEqual([["grim", "-t", "png", "-o", "DP-1", "/t/p.png"]]);
    expect(taken(darwinDesktop, "Color LCD", {})).toEqual([]);
  });

  it("is asked of screencapture on macOS, which counts from one", () => {
    expect(taken(darwinDesktop, 1, {})).toEqual([
      ["/usr/sbin/screencapture", "-x", "-t", "png", "-D", "2", "/t/p.png"],
    ]);
    const [camera] = darwinDesktop.cameras(undefined, {});
    expect(camera?.argsFor("/t/p.jpg", "jpeg")).toEqual(["-x", "-t", "jpg", "/t/p.jpg"]);
  });

  it.each([
    [undefined, "PrimaryScreen"],
    [1, "AllScreens[1]"],
    ["\\\\.\\DISPLAY'1", "DeviceName -eq '\\\\.\\DISPLAY''1'"],
  ])("is asked of Windows by PowerShell: monitor %j", (monitor, part) => {
    const [camera] = windowsDesktop.cameras(monitor, WINDOWS);
    const script = scriptOf(camera?.argsFor("C:\\t\\p.jpg", "jpeg") ?? []);
    expect(script).toContain(part);
    expect(script).toContain("$picture.Save('C:\\t\\p.jpg', [Drawing.Imaging.ImageFormat]::Jpeg)");
  });
});

describe("the clipboard", () => {
  const programsOf = (desktop: typeof linuxDesktop, env: NodeJS.ProcessEnv) =>
    desktop.clipboards(env).map(({ reader, writer }) => [reader.program, writer.program, writer.serves]);

  it.each([
    ["X11", X11, ["xclip", "xsel"]],
    ["Wayland, then what of it reaches X11", WAYLAND, ["wl-paste", "xclip", "xsel"]],
    ["Wayland alone", { WAYLAND_DISPLAY: "wayland-0" }, ["wl-paste"]],
    ["no screen", {}, []],
  ])("is asked of programs that serve it on Linux: %s", (_what, env, readers) => {
    const found = programsOf(linuxDesktop, env);
    expect(found.map(([reader]) => reader)).toEqual(readers);
    for (const [, , serves] of found) expect(serves).toBe(true);
  });

  it("stays with a child of the agent there, and is taken for text whatever it says", () => {
    const [wayland, xclip, xsel] = linuxDesktop.clipboards(WAYLAND);
    expect(wayland?.writer).toMatchObject({
      program: "wl-copy",
      args: ["--foreground", "--type", "text/plain"],
    });
    expect(wayland?.reader.args).toEqual(["--no-newline", "--type", "text"]);
    expect(xclip?.writer.args).toEqual(["-selection", "clipboard", "-in", "-quiet"]);
    expect(xsel?.writer.args).toEqual(["--clipboard", "--input", "--nodetach"]);
    for (const said of ["Nothing is copied", "No selection", "No suitable type of content copied"])
      expect(said).toMatch(wayland?.reader.empty ?? "");
    expect("Error: target STRING not available").toMatch(xclip?.reader.empty ?? "");
    expect("Error: Can't open display: :9").not.toMatch(xclip?.reader.empty ?? "");
  });

  it("is the system's own on macOS, in UTF-8 whatever the locale", () => {
    expect(programsOf(darwinDesktop, {})).toEqual([["/usr/bin/pbpaste", "/usr/bin/pbcopy", false]]);
    const [{ writer, env } = {}] = darwinDesktop.clipboards({});
    expect(env).toEqual({ LC_ALL: "en_US.UTF-8" });
    expect(writer?.stdinFor("é\n")).toBe("é\n");
  });

  it("is PowerShell's on Windows, in UTF-8 both ways, and never on a command line", () => {
    const [{ reader, writer } = {}] = windowsDesktop.clipboards(WINDOWS);
    expect(reader?.program).toBe("D:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe");
    expect(scriptOf(reader?.args ?? [])).toMatch(/OutputEncoding = .*UTF8[\s\S]*Get-Clipboard -Raw/);
    expect(scriptOf(writer?.args ?? [])).toMatch(
      /Set-Clipboard .*UTF8.GetString\(.*FromBase64String\(\$sent/,
    );
    const sent = writer?.stdinFor("it's é\r\n") ?? "";
    expect(Buffer.from(sent, "base64").toString()).toBe("it's é\r\n");
    expect(writer?.serves).toBe(false);
  });
});

describe("processes", () => {
  it("are read from ps", () => {
    const text = [
      "    1     0 Ss   root      0.0  11904 Sat Nov 21 16:51:00 2026     /sbin/launchd",
      "  501     1 S    ann      12.5  65536 Sat Nov  7 06:01:02 2026     /Applications/My Tool.app/Contents/MacOS/My Tool -x y",
      "  777   501 Z    ann       0.0      0 Sat Nov 21 16:51:00 2026     (gone)",
      "",
    ].join("\n");
    const started = (iso: string) => new Date(`${iso} 2026`).getTime();
    expect(parseProcessList(text)).toEqual([
      {
        pid: 1,
        parent: 0,
        name: "launchd",
        command: "/sbin/launchd",
        user: "root",
        cpuPercent: 0,
        memoryBytes: 11_904 * 1024,
        started: started("Nov 21 16:51:00"),
      },
      {
        pid: 501,
        parent: 1,
        name: "My Tool",
        command: "/Applications/My Tool.app/Contents/MacOS/My Tool -x y",
        user: "ann",
        cpuPercent: 12.5,
        memoryBytes: 65_536 * 1024,
        started: started("Nov 7 06:01:02"),
      },
    ]);
  });

  it("are read from the inventory of Windows", () => {
    const row = { pid: 4, parent: 0, name: "System", command: null, memory: 1024, used: 1_500_000 };
    const started = "2026-11-21T16:51:00.1234567Z";
    expect(parseInventory(JSON.stringify({ seconds: 0.3, rows: [{ ...row, started }] }))).toEqual([
      {
        pid: 4,
        parent: 0,
        name: "System",
        command: "System",
        user: null,
        cpuPercent: 50,
        memoryBytes: 1024,
        started: Date.parse("2026-11-21T16:51:00.123Z"),
      },
    ]);
    expect(() => parseInventory("Access denied")).toThrow();
  });

  it("of Matrx and above it are protected, and no others", () => {
    const row = (pid: number, parent: number, command = "x") => ({
      ...{ pid, parent, command, name: "x", user: null },
      ...{ cpuPercent: 0, memoryBytes: 0, started: 0 },
    });
    // 40 is its own parent's parent, as a table read while it changes may say.
    const all = [
      row(1, 0),
      row(40, 30),
      row(30, 40),
      row(50, 40),
      row(60, 50),
      row(70, 1, "workerd -d=/data/x"),
    ];
    const own = { pid: 50, marks: ["/data"] };
    const isProtected = all.filter((one) => protectionOf(one, all, own) !== undefined).map(({ pid }) => pid);
    expect(isProtected).toEqual([1, 40, 30, 50, 70]);
  });

  it.each([
    ["node agent/bin/matrx.js up", true],
    ["/usr/bin/node /home/ann/.npm/_npx/1/node_modules/.bin/matrx serve --port 0", true],
    ["node C:\\Users\\ann\\matrx\\bin\\matrx.js up", true],
    ["matrx up --json", true],
    ["matrx call Read", false],
    ["vim matrx.js", false],
    ["node other-matrx-tool.js up", false],
    ["sleep 60", false],
  ])("are known by their command: %s", (command, expected) => {
    const row = { pid: 9, parent: 1, name: "x", command, user: null };
    const facts = { ...row, cpuPercent: 0, memoryBytes: 0, started: 0 };
    expect(protectionOf(facts, [facts], { pid: 50, marks: [] }) !== undefined).toBe(expected);
  });
});

describe("where it is chosen what opens things", () => {
  it.each([
    [
      "Linux",
      linuxDesktop,
      {
        XDG_DATA_DIRS: "/d:relative",
        XDG_CONFIG_HOME: "/c",
        XDG_RUNTIME_DIR: "/run/user/1",
        PATH: "/h/tools:.",
      },
      "/h",
      [
        ...["/h/.config", "/h/.local/share", "/h/.local/bin", "/h/.mailcap", "/h/.mozilla"],
        ...["/d/applications", "/d/dbus-1/services", "/c", "/etc/xdg", "/run/user/1/dbus-1", "/h/tools"],
      ],
    ],
    ["macOS", darwinDesktop, {}, "/Users/a", ["/Users/a/Library", "/Users/a/Applications", "/Applications"]],
    [
      "Windows",
      windowsDesktop,
      { APPDATA: "D:\\Roaming", Path: "C:\\tools;tools" },
      "C:\\Users\\a",
      ["C:\\Users\\a\\AppData", "C:\\Users\\a\\Documents\\WindowsPowerShell", "D:\\Roaming", "C:\\tools"],
    ],
  ])("on %s is known, and whole", (_system, desktop, env, home, some) => {
    const places = desktop.handlerPlaces(env, home);
    expect(places).toEqual(expect.arrayContaining(some));
    expect(places.filter((place) => !/^(?:\/|[A-Z]:\\)/.test(place))).toEqual([]);
  });
});

describe("programs of the system", () => {
  it.each([
    ["Linux", linux.systemPath({ PATH: "/home/a/bin" }), "/usr/bin"],
    ["macOS", darwin.systemPath({ PATH: "/opt/homebrew/bin" }), "/usr/bin"],
    [
      "Windows",
      windows.systemPath({ PATH: "C:\\Users\\a\\bin", SystemRoot: "D:\\Windows" }),
      "D:\\Windows\\System32",
    ],
  ])("on %s are not looked for on the user's PATH", (_system, searchPath, folder) => {
    expect(searchPath).toContain(folder);
    expect(searchPath).not.toMatch(/home\/a|Users/);
  });
});

describe("the name of a Linux", () => {
  it.each([
    ['NAME="Debian GNU/Linux"\nVERSION_ID="12"\n', "Debian GNU/Linux 12"],
    ["# x\nID=arch\nNAME='Arch Linux'\n", "Arch Linux"],
    ["NAME=Fedora\nVERSION_ID=41", "Fedora 41"],
    ["", undefined],
  ])("is read from %j", async (text, name) => {
    const file = `${temporaryFolder()}/os-release`;
    writeFileSync(file, text);
    expect(await linuxDistribution(["/nowhere", file])).toBe(name);
  });
});
