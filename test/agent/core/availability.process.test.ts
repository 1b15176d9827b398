/** Tools that cannot work on this machine: said with a reason, and said anew when that changes. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import * as z from "zod";
import { manifestOf } from "../../../agent/core/manifest.ts";
import { defineTool, type Lack } from "../../../agent/core/tool.ts";
import { currentPlatform } from "../../../agent/platform/current.ts";
import type { LogSource } from "../../../agent/platform/system-log.ts";
import { lackOfSystemLog } from "../../../agent/read/system-log-lack.ts";
import { FakePrograms } from "../../helpers/fake-programs.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { NEEDS_XVFB, startScreen } from "../../helpers/xvfb.ts";
import { startScriptedRelay } from "../relay/scripted-relay.ts";
import { startAgent } from "../relay/start-agent.ts";
import { Workbench } from "../tools/workbench.ts";
import { smallToolbox } from "./small-tools.ts";

const SCREEN_TOOLS = ["OpenPath", "OpenUrl", "Screenshot", "open_app", "ClipboardRead", "ClipboardWrite"];
const { DISPLAY: _x, WAYLAND_DISPLAY: _w, ...headless } = process.env;

/** Why each of the tools of the screen cannot work, by name. */
async function lacks(env: NodeJS.ProcessEnv): Promise<Record<string, string | undefined>> {
  const bench = await Workbench.open({ env });
  const { tools } = await manifestOf(SCREEN_TOOLS.map((name) => bench.tool(name)));
  return Object.fromEntries(tools.map(({ name, unavailable }) => [name, unavailable]));
}

it("without a display nothing can be shown or seen, and it is said what would help", async () => {
  for (const env of [headless, { ...headless, DISPLAY: ":64999" }]) {
    const found = await lacks(env);
    for (const name of SCREEN_TOOLS)
      expect(found[name]).toMatch(/display .*\. Start the agent in the desktop session/);
  }
});

it("with one, and programs for it, everything can", NEEDS_XVFB, async () => {
  await using screen = await startScreen();
  const programs = new FakePrograms().add("xdg-open", "true").add("xsel", "true");
  const env = { ...headless, DISPLAY: screen.display, PATH: programs.path };
  expect(Object.values(await lacks(env)).filter((lack) => lack !== undefined)).toEqual([]);
  const without = await lacks({ ...env, PATH: "/nowhere" });
  expect(without.OpenUrl).toMatch(/No program was found to open things with\. .*xdg-utils/);
  expect(without.ClipboardRead).toMatch(/No program for the clipboard was found\. .*xclip/);
  expect(without.ClipboardWrite).toBe(without.ClipboardRead);
  expect(without.open_app).toBeUndefined();
});

it("without a log that may be read there is none to offer", () => {
  const folder = temporaryFolder();
  const file = join(folder, "syslog");
  const journal = {
    by: "program" as const,
    place: folder,
    file: "/bin/sh",
    kept: [join(folder, "journal")],
    argumentsFor: () => [],
  };
  const sources: LogSource[] = [journal, { by: "file", place: file }];
  const lack = (systemLog: readonly LogSource[]) => lackOfSystemLog({ ...currentPlatform(), systemLog });
  expect(lack(sources)?.help).toContain(file);
  writeFileSync(file, "");
  expect(lack(sources)).toBeUndefined();
  rmSync(file);
  mkdirSync(join(folder, "journal"));
  expect(lack(sources)).toBeDefined();
  writeFileSync(join(folder, "journal/system.journal"), "");
  expect(lack(sources)).toBeUndefined();
  expect(lack([{ ...journal, file: join(folder, "no-program") }])).toBeDefined();
  const { kept: _, ...always } = journal;
  expect(lack([always])).toBeUndefined();
});

it("is looked at on this machine as it is", () => {
  const { systemLog } = currentPlatform();
  const found = lackOfSystemLog({ ...currentPlatform(), systemLog });
  expect(found === undefined || /\w/.test(found.help)).toBe(true);
});

function toolThat(unavailable: () => Lack | undefined) {
  return defineTool({
    name: "Screenshot",
    description: "Shows.",
    input: z.strictObject({}),
    unavailable,
    timeoutMs: 1000,
    handle: async () => ({ output: "" }),
  });
}

const LACK: Lack = { why: "No display", help: "Plug one in" };

it("is announced at registration, and anew while the connection lives, when it changes", async () => {
  const relay = await startScriptedRelay();
  let lack: Lack | undefined = LACK;
  const toolbox = { ...smallToolbox(), tools: [toolThat(() => lack)] };
  startAgent(relay.url, { toolbox, times: { toolsLookMs: 10 } });
  const socket = await relay.connection();
  const { manifest_hash, capabilities } = await socket.register({ manifest_wanted: true });
  expect(capabilities).toMatchObject({ screenshot: false });
  const first = await socket.texts.next();
  expect(first).toMatchObject({
    ...{ type: "manifest", hash: manifest_hash },
    tools: [{ name: "Screenshot", unavailable: "No display. Plug one in" }],
  });
  lack = undefined;
  const second = await socket.texts.next();
  expect(second).toMatchObject({ type: "manifest", tools: [{ name: "Screenshot" }] });
  expect(second).not.toMatchObject({ hash: manifest_hash });
  expect(JSON.stringify(second)).not.toContain("unavailable");
  lack = LACK;
  expect(await socket.texts.next()).toMatchObject({ type: "manifest", hash: manifest_hash });
  expect(socket.texts.size).toBe(0);
});

it("a relay that knows the manifest hears of it only when it has changed, also while nothing was connected", async () => {
  const relay = await startScriptedRelay();
  let lack: Lack | undefined = LACK;
  const toolbox = { ...smallToolbox(), tools: [toolThat(() => lack)] };
  startAgent(relay.url, { toolbox, times: { toolsLookMs: 3_600_000 } });
  const socket = await relay.connection();
  const { manifest_hash: before } = await socket.register();
  lack = undefined;
  socket.socket.terminate();
  const again = await relay.connection();
  const { manifest_hash: after, capabilities } = await again.register();
  expect(after).not.toBe(before);
  expect(capabilities).toMatchObject({ screenshot: true });
  expect(again.texts.size).toBe(0);
});

it("a tool whose look fails is announced as one that works, and the others too", async () => {
  const broken = toolThat(() => {
    throw new Error("cannot look");
  });
  expect((await manifestOf([broken])).tools).toMatchObject([{ name: "Screenshot" }]);
});
