/** Programs that a caller left in the user's folders, and what the agent starts outside the sandbox: real ones, on a real screen. */
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import { findProgram } from "../../../agent/platform/run-program.ts";
import { SearchEngines } from "../../../agent/search/engines.ts";
import { usualPlaces } from "../../../agent/search/find-ripgrep.ts";
import { until } from "../../helpers/launcher.ts";
import { needs } from "../../helpers/parts.ts";
import { NEEDS_CLIPBOARD, startScreen } from "../../helpers/xvfb.ts";
import { failure, Workbench } from "./workbench.ts";

const AI: GrantScope = { id: makeGrantId(), owner: false, effects: ["read", "write", "execute"] };
const EFFECTS = { read: ["read"], write: ["read", "write"] } satisfies Record<string, GrantScope["effects"]>;
const {
  DISPLAY: _x,
  WAYLAND_DISPLAY: _w,
  XDG_DATA_HOME: _d,
  XDG_CONFIG_HOME: _c,
  BROWSER: _b,
  ...plain
} = process.env;
const ADDRESS = "https://example.com/";

/** Everything that a tool is known to have started by its name, or that a library did. */
const NAMES =
  "xdg-open xdg-mime gio wslview gtk-launch xclip xsel wl-copy wl-paste grim ffmpeg gnome-screenshot spectacle cp cat which " +
  "hostname dmesg grep sh echo ip python3 python journalctl rg ps env bash dbus-launch";

afterEach(() => vi.unstubAllEnvs());

/** A user's home folder, whose programs come first on the agent's PATH. */
async function machine(display = ":64999") {
  const bench = await Workbench.open();
  const { home } = bench;
  const env = { ...plain, HOME: home, DISPLAY: display, PATH: `${home}/.local/bin:${process.env.PATH}` };
  const agent = await Workbench.open({ env });
  const ran = bench.at("ran");
  return {
    home: bench,
    agent,
    env,
    ran: () => (existsSync(ran) ? readFileSync(ran, "utf8").trim().split("\n") : []),
    async plant(...names: string[]) {
      for (const name of names) {
        const script = `#!/bin/sh\necho ${name} >> '${ran}'\n`;
        chmodSync(await bench.put(`.local/bin/${name}`, script), 0o755);
      }
    },
    /** By file tools alone, as the AI would. */
    async plantHandler(grant: GrantScope) {
      const applications = bench.at(".local/share/applications");
      const write = (file: string, content: string) =>
        agent.call("Write", { file_path: file, content }, { grant });
      await write(bench.at("evil.sh"), `env > '${ran}'\n`);
      await write(
        path.join(applications, "evil.desktop"),
        `[Desktop Entry]\nType=Application\nName=Web\nExec=/bin/sh ${bench.at("evil.sh")} %u\nMimeType=x-scheme-handler/https;\n`,
      );
      await write(
        bench.at(".config/mimeapps.list"),
        "[Default Applications]\nx-scheme-handler/https=evil.desktop\ntext/plain=evil.desktop\n",
      );
    },
  };
}

const NEEDS_OPENER = needs(
  ["Xvfb", "xdg-open", "xclip", "xsel"].every((name) => findProgram(name, process.env)),
  "tests of opening need Xvfb, xdg-open, xclip and xsel: apt-get install xvfb xdg-utils xclip xsel",
);

describe("an AI whose grant is for the home folder", NEEDS_OPENER, () => {
  it("can't have an address opened by a program that it wrote", async () => {
    await using screen = await startScreen();
    const { agent, home, ran, plantHandler } = await machine(screen.display);
    const grant = { ...AI, paths: [home.home] };
    await plantHandler(grant);
    await home.put("notes.txt", "hello");

    for (const [tool, input] of [
      ["OpenUrl", { url: ADDRESS }],
      ["OpenPath", { path: home.at("notes.txt") }],
    ] as const) {
      const error = await failure(agent.call(tool, input, { grant }));
      expect(error).toMatchObject({ code: "PERMISSION_DENIED", details: { reason: "CHOOSES_HANDLERS" } });
      expect(error.hint).toContain("denied_paths");
      // Nobody is asked about what would be refused.
      const asked = agent.tool(tool).preview?.(input, agent.context({ grant }));
      expect((await failure(asked ?? Promise.resolve())).code).toBe("PERMISSION_DENIED");
    }
    expect(ran()).toEqual([]);
  });

  it("is what the owner's desktop runs for the owner, and for callers who can't write there", async () => {
    await using screen = await startScreen();
    const { agent, home, ran, plantHandler } = await machine(screen.display);
    await plantHandler(agent.owner);
    await agent.call("OpenUrl", { url: ADDRESS });
    await until("the user's handler has run", () => ran().length > 0);

    await home.put("project/a.txt", "a");
    await agent.call("Write", { file_path: home.at("ran"), content: "" });
    const guest = { ...AI, paths: [home.at("project")] };
    await agent.call("OpenUrl", { url: ADDRESS }, { grant: guest });
    await until("it has run again", () => ran().some((line) => line.startsWith("PATH=")));
    const path = ran().find((line) => line.startsWith("PATH="));
    expect(path).not.toContain(".local/bin");
    expect(ran()).toContain("PWD=/");
  });
});

describe("programs planted in ~/.local/bin", NEEDS_CLIPBOARD, () => {
  it("would run if the PATH of the user were asked", async () => {
    await using screen = await startScreen();
    const { agent, plant, ran } = await machine(screen.display);
    await plant("xclip");
    await agent.call("ClipboardRead", {});
    expect(ran()).toEqual(["xclip"]);
  });

  it("do not run for an AI, whatever it calls", NEEDS_OPENER, async () => {
    await using screen = await startScreen();
    await screen.paint("-mod", "16", "16", "-fg", "#ee8800", "-bg", "#1122cc");
    const { agent, home, env, plant, ran } = await machine(screen.display);
    await plant(...NAMES.split(" "));
    // Also where the agent's own environment is asked.
    vi.stubEnv("PATH", env.PATH);
    vi.stubEnv("HOME", home.home);
    await home.put("project/a.txt", "hello");
    const grant = { ...AI, paths: [home.at("project")] };
    const wide = { ...AI };
    const call = (tool: string, input: Record<string, unknown>, by: GrantScope) =>
      agent.call(tool, input, { grant: by });

    await call("OpenUrl", { url: ADDRESS }, grant).catch(() => undefined);
    await call("OpenPath", { path: home.at("project/a.txt") }, grant).catch(() => undefined);
    const text = "from the AI";
    await call("ClipboardWrite", { text }, wide);
    expect(await screen.pasted()).toBe(text);
    expect((await call("ClipboardRead", {}, wide)).metadata).toMatchObject({ text });
    expect((await call("Screenshot", {}, wide)).metadata).toMatchObject({ taken_by: "node-screenshots" });
    await call("SystemInfo", {}, grant);
    await call("SystemLog", {}, wide).catch(() => undefined);
    await call("Write", { file_path: home.at("project/a.txt"), content: "new" }, grant);
    await call("Grep", { pattern: "new", path: home.at("project") }, grant);
    await call("ListProcesses", {}, wide);
    await call("NetworkConnections", {}, wide);
    await call("SystemMetrics", {}, wide);
    expect(ran()).toEqual([]);
  });

  it("are named by no variable and no setting that such a caller can reach", async () => {
    const { home, env } = await machine();
    const more = {
      DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/bus",
      LD_PRELOAD: "/x.so",
      NODE_OPTIONS: "-r /x.js",
    };
    const bench = await Workbench.open({ env: { ...env, ...more } });
    const given = async (paths: string[]) => {
      const caller = bench.context({ grant: { ...AI, paths } });
      return (await bench.desktop.surroundingsOf(bench.files, caller).forHelpers()).env;
    };
    await mkdir(home.at("project"));
    expect(await given([home.at("project")])).toMatchObject({
      ...{ HOME: "/nonexistent", DISPLAY: env.DISPLAY, XAUTHORITY: home.at(".Xauthority") },
      DBUS_SESSION_BUS_ADDRESS: more.DBUS_SESSION_BUS_ADDRESS,
    });
    const wide = await given([home.home]);
    expect(wide).toMatchObject({ DBUS_SESSION_BUS_ADDRESS: "disabled:" });
    expect(Object.keys(wide)).not.toContain("LD_PRELOAD");
    expect(Object.keys(wide)).not.toContain("NODE_OPTIONS");
    expect(wide.PATH).not.toContain(home.home);
  });

  it("do not search, where the package brings no ripgrep", async () => {
    const { env, plant, ran } = await machine();
    await plant("rg");
    vi.stubEnv("PATH", env.PATH);
    await new SearchEngines({ ...usualPlaces, fromPackage: async () => undefined }).best();
    expect(ran()).toEqual([]);
  });
});

describe("things are opened for a caller", () => {
  const opens = async (
    grant: Partial<GrantScope>,
    more: (home: Workbench) => Promise<NodeJS.ProcessEnv | undefined>,
  ) => {
    const { agent, home, env } = await machine();
    await mkdir(home.at("project"));
    const changed = await more(home);
    const bench = changed ? await Workbench.open({ env: { ...env, ...changed } }) : agent;
    const paths = (grant.paths ?? []).map((one) => home.at(one));
    const caller = bench.context({ grant: { ...AI, ...grant, paths } });
    return await bench.desktop
      .surroundingsOf(bench.files, caller)
      .forOpeners()
      .then(
        () => true,
        ({ details }) => path.relative(home.home, details.place),
      );
  };
  const nothing = async () => undefined;

  it.each<[string, Partial<GrantScope>]>([
    ["it may read alone", { paths: ["."], effects: EFFECTS.read }],
    ["it may write in a folder of its own", { paths: ["project"] }],
    ["all such places are closed to it", { paths: ["."], denied_paths: ["**/.*", "**/bin", "**/snap"] }],
  ])("who %s", async (_who, grant) => {
    expect(await opens(grant, nothing)).toBe(true);
  });

  it.each<[string, string[], string]>([
    ["the home folder", ["."], ".config"],
    ["the settings", [".config"], ".config"],
    ["the settings of one program", [".config/mpv"], ".config/mpv"],
    ["the folder of desktop entries", [".local/share/applications"], ".local/share/applications"],
    ["programs", [".local/bin"], ".local/bin"],
    ["what the session's bus starts", [".local/share/dbus-1"], ".local/share/dbus-1"],
  ])("but not who may write %s", async (_what, paths, place) => {
    const made = async (home: Workbench) => {
      for (const folder of paths) await mkdir(home.at(folder), { recursive: true });
      return undefined;
    };
    expect(await opens({ paths }, made)).toBe(place);
  });

  it.each<[string, (home: Workbench) => Promise<NodeJS.ProcessEnv | undefined>, string]>([
    [
      "a link from there leads to its folder",
      async (home) => {
        await mkdir(home.at(".local/share"), { recursive: true });
        await mkdir(home.at("project/dots"));
        await symlink(home.at("project/dots"), home.at(".local/share/applications"));
        return undefined;
      },
      "project/dots",
    ],
    [
      "a list of handlers is a link into its folder",
      async (home) => {
        await mkdir(home.at(".config"));
        await symlink(home.at("project/mimeapps.list"), home.at(".config/mimeapps.list"));
        await home.put("project/mimeapps.list", "");
        return undefined;
      },
      "project/mimeapps.list",
    ],
    [
      "a desktop entry names a program in its folder",
      async (home) => {
        await home.put("project/viewer", "");
        await home.put(
          ".local/share/applications/v.desktop",
          `[Desktop Entry]\nExec="${home.at("project/viewer")}" %f\n`,
        );
        return undefined;
      },
      "project/viewer",
    ],
    [
      "the user's data is in its folder",
      async (home) => ({ XDG_DATA_HOME: home.at("project/data") }),
      "project/data",
    ],
    [
      "the PATH leads into it",
      async (home) => ({ PATH: `${home.at("project/bin")}:/usr/bin` }),
      "project/bin",
    ],
  ])("nor if %s", async (_what, make, place) => {
    expect(await opens({ paths: ["project"] }, make)).toBe(place);
  });
});
