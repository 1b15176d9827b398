/** A home holds far more that runs unasked than anyone can list: an AI grant for all of it changes what has no dot. */
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { SECRET_PATHS } from "@matrx/shared/secret-paths.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import { unchangeableBut } from "../../../agent/core/gate.ts";
import { PathClosures } from "../../../agent/fs/path-closures.ts";
import { darwin } from "../../../agent/platform/darwin/darwin.ts";
import { linux } from "../../../agent/platform/linux/linux.ts";
import { windows } from "../../../agent/platform/windows/windows.ts";
import { type CallOptions, failure, WAYS, Workbench } from "../tools/workbench.ts";

afterEach(() => vi.unstubAllEnvs());

/** What people's machines run without being asked: shells, desktops, editors, package managers, languages, AI programs. */
const RUN_UNASKED = [
  ...[
    ".kshrc",
    ".mkshrc",
    ".inputrc",
    ".tmux.conf",
    ".screenrc",
    ".envrc.local",
    ".direnvrc",
    ".pam_environment",
  ],
  ...[
    ".local/bin/git",
    ".cargo/env",
    ".cargo/bin/cargo",
    ".cargo/config.toml",
    ".nvm/nvm.sh",
    ".pyenv/shims/python",
  ],
  ...[".local/lib/python3.12/site-packages/usercustomize.py", ".local/lib/python3.12/site-packages/x.pth"],
  ...[
    ".local/share/dbus-1/services/x.service",
    ".local/share/applications/x.desktop",
    ".config/mimeapps.list",
  ],
  ...[
    ".config/Code/User/settings.json",
    ".vscode/extensions/x/main.js",
    ".vim/plugin/x.vim",
    ".config/nvim/init.lua",
  ],
  ...[
    ".emacs",
    ".emacs.d/init.el",
    ".claude/settings.json",
    ".codex/config.toml",
    ".docker/cli-plugins/docker-x",
  ],
  ...[
    ".oh-my-zsh/custom/x.zsh",
    ".gnome/x",
    ".gdbinit",
    ".irbrc",
    ".Rprofile",
    ".perldb",
    ".psqlrc",
    ".sqliterc",
  ],
  ...[
    ".mailcap",
    ".fonts.conf",
    ".config/mpv/scripts/x.lua",
    ".xbindkeysrc",
    ".config/i3/config",
    ".config/hypr/x",
  ],
  ...[".new", ".new/folder/file", "bin/git", "go/bin/gopls", "snap/x/current/.profile"],
];

/** The owner's home, and an AI grant for all of it. */
async function openHome(options: Parameters<typeof Workbench.open>[0] = {}) {
  const bench = await Workbench.open(options);
  vi.stubEnv("HOME", bench.home);
  vi.stubEnv("XDG_DATA_HOME", undefined);
  await bench.put("project/notes.txt", "plain");
  await bench.put(".config/foo/settings", "owner's");
  await bench.put(".tmux.conf", "owner's");
  const grant: GrantScope = {
    ...{ id: makeGrantId(), owner: false, effects: ["read", "write", "execute"] },
    paths: [bench.home],
  };
  const session = bench.newSession(grant);
  session.cwd = bench.home;
  const as = (paths: readonly string[]): CallOptions => ({ grant: { ...grant, paths: [...paths] }, session });
  return { bench, as, whole: as([bench.home]) };
}

function contentOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

const REFUSED = { code: "PERMISSION_DENIED", details: { reason: "CLOSED" } };

describe.each(WAYS)("an AI grant for a home, walked %s,", (_way, platform) => {
  it("writes nothing there that may run unasked, whether it is there or not", async () => {
    const { bench, whole } = await openHome({ platform });
    const done: string[] = [];
    for (const file_path of RUN_UNASKED) {
      const error = await failure(bench.call("Write", { file_path, content: "evil" }, whole)).catch(
        () => undefined,
      );
      if (error?.code !== "PERMISSION_DENIED" || contentOf(bench.at(file_path)) === "evil")
        done.push(file_path);
    }
    expect(done).toEqual([]);
  });

  it("neither changes, removes, moves nor replaces what begins with a dot, and reads it", async () => {
    const { bench, whole } = await openHome({ platform });
    const tries: readonly [string, Record<string, unknown>][] = [
      ["Edit", { file_path: ".tmux.conf", old_string: "owner's", new_string: "evil" }],
      ["Delete", { path: ".tmux.conf" }],
      ["Delete", { path: ".config", recursive: true }],
      ["delete_directory", { path: ".config/foo", recursive: true }],
      ["Move", { source: ".config", destination: "project/config" }],
      ["Move", { source: ".tmux.conf", destination: "project/x" }],
      ["Move", { source: "project/notes.txt", destination: ".tmux.conf", overwrite: true }],
      ["Move", { source: "project", destination: ".local" }],
      ["Move", { source: "project", destination: "BIN" }],
      ["create_directory", { path: ".local/bin" }],
      ["create_directory", { path: "bin" }],
      ["ApplyPatch", { patch: "*** Begin Patch\n*** Add File: .zlogin.d/x\n+evil\n*** End Patch" }],
    ];
    for (const [tool, input] of tries)
      expect([tool, input, await failure(bench.call(tool, input, whole))]).toMatchObject([
        tool,
        input,
        REFUSED,
      ]);
    const { output } = await bench.call("Read", { file_path: ".tmux.conf" }, whole);
    expect(output).toContain("owner's");
  });

  it("works in the rest, with names that begin with a dot as well", async () => {
    const { bench, whole } = await openHome({ platform });
    for (const file_path of ["new.txt", "project/.gitignore", "project/.github/workflows/x.yml", "binary/x"])
      await bench.call("Write", { file_path, content: "x" }, whole);
    await bench.call("Move", { source: "new.txt", destination: "project/moved.txt" }, whole);
    await bench.call("Delete", { path: "project/moved.txt" }, whole);
    await bench.call("Delete", { path: "binary", recursive: true }, whole);
  });
});

describe("what its grant names in a home", () => {
  it("may be changed, and nothing beside it", async () => {
    const { bench, as } = await openHome();
    const named = as([bench.home, "~/.config/foo", "~/.cache"]);
    await bench.call("Write", { file_path: ".config/foo/settings", content: "new" }, named);
    await bench.call("Write", { file_path: ".cache/made/x", content: "new" }, named);
    const beside = [".config/bar", ".config/foo2", ".cachet", ".config/foo/.git/config", ".config/foo/.env"];
    for (const file_path of beside)
      expect(await failure(bench.call("Write", { file_path, content: "x" }, named))).toMatchObject(REFUSED);
  });

  it("may be all that it names", async () => {
    const { bench, as } = await openHome();
    await bench.call("Write", { file_path: "~/.config/foo/settings", content: "new" }, as(["~/.config/foo"]));
    expect(readFileSync(bench.at(".config/foo/settings"), "utf8")).toBe("new");
  });

  it("stays closed if secrets are kept there, or a policy names it only", async () => {
    const { bench, as, whole } = await openHome();
    mkdirSync(bench.at(".ssh"));
    const write = (file_path: string) => ["Write", { file_path, content: "x" }] as const;
    expect(await failure(bench.call(...write("~/.ssh/config"), as(["~", "~/.ssh"])))).toMatchObject(REFUSED);
    const policy = { allowed_paths: [bench.home, bench.at(".config/foo")] };
    expect(await failure(bench.call(...write("~/.config/foo/x"), { ...whole, policy }))).toMatchObject(
      REFUSED,
    );
  });

  it("is not what it put in the place of something named", async () => {
    const { bench, as } = await openHome();
    mkdirSync(bench.at(".vim"));
    mkdirSync(bench.at("dotfiles"));
    symlinkSync(bench.at(".vim"), bench.at("project/link"));
    symlinkSync(bench.at(".vim"), bench.at(".config/foo/link"));
    for (const named of ["project/link", ".config/foo/link"]) {
      const grant = as([bench.home, bench.at(".config/foo"), bench.at(named)]);
      expect(
        await failure(bench.call("Write", { file_path: `${named}/x`, content: "x" }, grant)),
      ).toMatchObject(REFUSED);
    }
    symlinkSync(bench.at("dotfiles/tmux"), bench.at(".tmux"));
    symlinkSync(bench.at(".config"), bench.at("dotfiles/tmux"));
    const planted = { file_path: "dotfiles/tmux/evil", content: "x" };
    const target = as([bench.home, bench.at("dotfiles/tmux")]);
    expect(await failure(bench.call("Write", planted, target))).toMatchObject(REFUSED);
  });
});

describe("links of a home", () => {
  it("close to changes what they lead to", async () => {
    const { bench, whole, as } = await openHome();
    await bench.put("dotfiles/tmux", "owner's");
    await bench.put("dotfiles/nvim/init.lua", "owner's");
    await bench.put("dotfiles/history", "secret");
    await bench.put("dotfiles/bin/git", "owner's");
    symlinkSync("dotfiles/tmux", bench.at(".screenrc"));
    symlinkSync("../dotfiles/nvim", bench.at(".config/nvim"));
    symlinkSync("dotfiles/history", bench.at(".psql_history"));
    symlinkSync("dotfiles/bin", bench.at("bin"));
    symlinkSync(".", bench.at(".self"));
    for (const file_path of ["dotfiles/tmux", "dotfiles/nvim/init.lua", "dotfiles/bin/git"])
      expect(await failure(bench.call("Write", { file_path, content: "x" }, whole))).toMatchObject(REFUSED);
    expect(await failure(bench.call("Read", { file_path: "dotfiles/history" }, whole))).toMatchObject(
      REFUSED,
    );
    await bench.call("Write", { file_path: "dotfiles/README", content: "x" }, whole);
    const named = as([bench.home, bench.at("dotfiles/nvim")]);
    await bench.call("Write", { file_path: "dotfiles/nvim/x.lua", content: "x" }, named);
  });

  it("lead to the same home, whichever of its names is granted or used", async () => {
    const { bench, as } = await openHome();
    const other = `${bench.home}-link`;
    symlinkSync(bench.home, other);
    vi.stubEnv("HOME", other);
    for (const [granted, name] of [
      [other, other],
      [other, bench.home],
      [bench.home, other],
      [bench.home, bench.home],
    ] as const) {
      const write = (file: string, paths: string[]) =>
        bench.call("Write", { file_path: `${name}/${file}`, content: "x" }, as(paths));
      expect(await failure(write(".config/foo/x", [granted]))).toMatchObject(REFUSED);
      await write(".config/foo/x", [granted, `${granted}/.config/foo`]);
    }
  });
});

describe("the places of other homes and systems", () => {
  const closuresOf = (platform: typeof linux, home: string) =>
    new PathClosures(
      { closedPaths: [{ by: "test", globs: SECRET_PATHS }], unchangeable: unchangeableBut() },
      platform,
      home,
    );

  it.each([
    ["/home/ann/.x", "/home/bob/.profile", "/root/.tmux.conf", "/home/bob/bin/ls"],
    ["/home/ann/x", "/home/bob/x/.x", "/var/www/.git", "/opt/app/.x"],
  ])("on Linux, for an agent that runs as root: %s", (...paths) => {
    const platform = { ...linux, otherHomes: () => ["/home/bob", "/root", "/var/www", "/opt/app"] };
    const closures = closuresOf(platform, "/home/ann");
    expect(paths.map((one) => closures.isFixed(one))).toEqual(paths.map(() => paths[0] === "/home/ann/.x"));
  });

  it("on macOS", () => {
    const closures = closuresOf({ ...darwin, otherHomes: () => ["/Users/bob"] }, "/Users/ann");
    const closed = [
      "/Users/ann/Library/LaunchAgents/x.plist",
      "/Users/ann/library/Services/x",
      "/Users/bob/.ZSHRC",
    ];
    const open = ["/Users/ann/Documents/x", "/Users/ann/Libraries/x", "/Users/Shared/.x"];
    expect([...closed, ...open].filter((one) => closures.isFixed(one))).toEqual(closed);
  });

  it("on Windows", () => {
    const home = "C:\\Users\\ann";
    const closures = closuresOf({ ...windows, otherHomes: () => ["C:\\Users\\bob"] }, home);
    const at = (...names: string[]) => path.win32.join(home, ...names);
    const closed = [
      at("AppData\\Roaming\\Microsoft\\Windows\\Start Menu\\Programs\\Startup\\x.bat"),
      at("appdata\\Local\\Programs\\Python\\Python312\\Lib\\site-packages\\usercustomize.py"),
      at("Documents\\PowerShell\\Microsoft.PowerShell_profile.ps1"),
      at("OneDrive - Acme\\Documents\\WindowsPowerShell\\profile.ps1"),
      at("NTUSER.DAT"),
      at(".bashrc"),
      "C:\\Users\\bob\\.gitconfig",
    ];
    const open = [at("Documents\\x.ps1"), at("OneDrive - Acme\\x"), "C:\\work\\.x"];
    expect([...closed, ...open].filter((one) => closures.isFixed(one))).toEqual(closed);
  });
});
