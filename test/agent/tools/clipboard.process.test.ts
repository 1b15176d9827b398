/** The clipboard both ways, with real programs on a real X server; and what is said when there is none. */
import { readFileSync, symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ClipboardServer } from "../../../agent/desktop/clipboard-server.ts";
import { FakePrograms } from "../../helpers/fake-programs.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { until } from "../../helpers/launcher.ts";
import { NEEDS_CLIPBOARD, type Screen, startScreen } from "../../helpers/xvfb.ts";
import { failure, processesMarked, Workbench } from "./workbench.ts";

const { DISPLAY: _x, WAYLAND_DISPLAY: _w, ...headless } = process.env;
const MOST = 1024 * 1024;
const TEXT = "Grüße, 世界 🙂\n\t$(id) 'x' \"y\"\n\n";

/** A machine with this screen, and how many of its programs run. */
async function at(screen: Screen, more: NodeJS.ProcessEnv = {}) {
  const mark = temporaryFolder();
  const env = { ...headless, DISPLAY: screen.display, CLIPBOARD_TEST: mark, ...more };
  const bench = await Workbench.open({ env });
  return { bench, running: () => processesMarked(mark) };
}

describe("without a screen or its programs", () => {
  it.each([
    ["ClipboardRead", {}],
    ["ClipboardWrite", { text: "x" }],
  ])("%s says what is missing, and what to do", async (tool, input) => {
    for (const env of [headless, { ...headless, DISPLAY: ":64999" }]) {
      const bench = await Workbench.open({ env });
      expect((await bench.tool(tool).unavailable?.())?.help).toContain("DISPLAY");
    }
    const none = await Workbench.open({ env: headless });
    expect((await failure(none.call(tool, input))).details).toEqual({ reason: "NO_DISPLAY" });
    const bare = await Workbench.open({ env: { ...headless, DISPLAY: ":64999", PATH: "/nowhere" } });
    const error = await failure(bare.call(tool, input));
    expect(error).toMatchObject({ code: "TOOL_EXECUTION_FAILED", details: { reason: "NO_PROGRAM" } });
    expect(error.hint).toContain("xclip");
  });
});

describe("a text for the clipboard", () => {
  it.each([
    ["is too long", "é".repeat(MOST / 2 + 1), "PAYLOAD_TOO_LARGE"],
    ["ends within a character", "\ud83d", "INVALID_PARAMETERS"],
    ["is empty", "", "INVALID_PARAMETERS"],
    ["has a NUL", "a\0b", "INVALID_PARAMETERS"],
  ])("is refused when it %s, before a person is asked", async (_what, text, code) => {
    const bench = await Workbench.open({ env: headless });
    expect(await failure(bench.call("ClipboardWrite", { text }))).toMatchObject({ code });
    if (text === "" || text.includes("\0")) return;
    const asked = bench.tool("ClipboardWrite").preview?.({ text }, bench.context());
    expect(await failure(asked ?? Promise.resolve())).toMatchObject({ code });
  });

  it("is told to the person who decides: its beginning, without what looks like a secret", async () => {
    const bench = await Workbench.open({ env: headless });
    const preview = async (tool: string, input: Record<string, unknown>) =>
      (await bench.tool(tool).preview?.(input, bench.context())) ?? { summary: "" };
    const { summary } = await preview("ClipboardWrite", { text: "a\npassword=hunter2" });
    expect(summary).toBe('Put 18 bytes of text on the clipboard: "a\\npassword=[redacted]"');
    const long = await preview("ClipboardWrite", { text: "x".repeat(5000) });
    expect(long.summary).toBe(`Put 5000 bytes of text on the clipboard: "${"x".repeat(200)}" …`);
    expect((await preview("ClipboardRead", {})).summary).toBe("Read the text on the clipboard");
  });
});

describe("with a screen", NEEDS_CLIPBOARD, () => {
  it("reads what somebody copied there, and tells its length alone in the output, which records keep", async () => {
    await using screen = await startScreen();
    const { bench } = await at(screen);
    expect(await bench.call("ClipboardRead", {})).toEqual({
      output: "The clipboard holds no text",
      metadata: { text: "", bytes: 0, cut: false, read_by: "xclip" },
    });
    await screen.copy(TEXT);
    const bytes = Buffer.byteLength(TEXT);
    expect(await bench.call("ClipboardRead", {})).toEqual({
      output: `The clipboard holds ${bytes} bytes of text, which are in the metadata`,
      metadata: { text: TEXT, bytes, cut: false, read_by: "xclip" },
    });
  });

  it("puts a text there for whoever pastes, and never on a command line", async () => {
    await using screen = await startScreen();
    const { bench, running } = await at(screen);
    const { output, metadata } = await bench.call("ClipboardWrite", { text: TEXT });
    expect(output).toBe(`${Buffer.byteLength(TEXT)} bytes of text are on the clipboard now`);
    expect(metadata).toEqual({ bytes: Buffer.byteLength(TEXT), written_by: "xclip" });
    expect(await screen.pasted()).toBe(TEXT);
    expect(await screen.pasted()).toBe(TEXT);
    const [pid] = running();
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).not.toContain("Gr");
  });

  it("keeps one program for it, until something else is copied or the agent ends", async () => {
    await using screen = await startScreen();
    const { bench, running } = await at(screen);
    for (const text of ["one", "two", "two"]) {
      await bench.call("ClipboardWrite", { text });
      expect(await screen.pasted()).toBe(text);
      await until("only the newest runs", () => running().length === 1);
    }
    await screen.copy("three");
    await until("none runs", () => running().length === 0);
    expect((await bench.call("ClipboardRead", {})).metadata).toMatchObject({ text: "three" });

    await bench.call("ClipboardWrite", { text: "four" });
    expect(running()).toHaveLength(1);
    bench.desktop.close();
    await until("none runs", () => running().length === 0);
  });

  it("takes several that are put there at once, one after the other", async () => {
    await using screen = await startScreen();
    const { bench, running } = await at(screen);
    const texts = ["a", "b", "c"];
    await Promise.all(texts.map((text) => bench.call("ClipboardWrite", { text })));
    expect(texts).toContain(await screen.pasted());
    await until("only the newest runs", () => running().length === 1);
  });

  it("carries a mebibyte both ways, and of more reads the beginning and says so", async () => {
    await using screen = await startScreen();
    const { bench } = await at(screen);
    const most = "0123456789abcdef".repeat(MOST / 16);
    await bench.call("ClipboardWrite", { text: most });
    expect((await screen.pasted()) === most).toBe(true);
    const whole = await bench.call("ClipboardRead", {});
    expect(whole.metadata?.text === most).toBe(true);
    expect(whole.metadata).toMatchObject({ bytes: MOST, cut: false });

    // The limit falls within a character, which is left out.
    await screen.copy(`x${"é".repeat(MOST)}`);
    const { output, metadata } = await bench.call("ClipboardRead", {});
    expect(metadata?.text === `x${"é".repeat(MOST / 2 - 1)}`).toBe(true);
    expect(metadata).toMatchObject({ bytes: MOST - 1, cut: true });
    expect(output).toContain("more text than can be returned");
  });

  it("does the same by xsel where xclip is not there, or fails", async () => {
    await using screen = await startScreen();
    for (const programs of [new FakePrograms(), new FakePrograms().add("xclip", "echo no >&2; exit 1")]) {
      symlinkSync("/usr/bin/xsel", programs.at("xsel"));
      const { bench } = await at(screen, { PATH: programs.folder });
      expect((await bench.call("ClipboardWrite", { text: TEXT })).metadata).toMatchObject({
        written_by: "xsel",
      });
      expect(await screen.pasted()).toBe(TEXT);
      expect((await bench.call("ClipboardRead", {})).metadata).toMatchObject({ text: TEXT, read_by: "xsel" });
    }
  });

  it("leaves nothing behind when the program that owns the text hangs and the call is cancelled", async () => {
    await using screen = await startScreen();
    const owner = await at(screen);
    await owner.bench.call("ClipboardWrite", { text: "never given" });
    const [pid = 0] = owner.running();
    process.kill(pid, "SIGSTOP");
    const { bench, running } = await at(screen);
    const stop = new AbortController();
    const call = failure(bench.call("ClipboardRead", {}, { signal: stop.signal }));
    await until("it asks for the text", () => running().length === 1);
    stop.abort(Object.assign(new Error("cancelled"), { code: "CANCELLED" }));
    expect((await call).code).toBe("CANCELLED");
    await until("none runs", () => running().length === 0);
  });
});

describe("programs that do not work", () => {
  /** A machine whose xclip is this script, and which has no other. */
  async function withXclip(script: string) {
    const programs = new FakePrograms().add("xclip", script);
    const env = { ...headless, DISPLAY: ":64999", PATH: programs.folder };
    return { programs, bench: await Workbench.open({ env }) };
  }

  it("are named, with what they said", async () => {
    const { bench } = await withXclip("echo 'it is broken' >&2; exit 3");
    for (const [tool, input] of [
      ["ClipboardRead", {}],
      ["ClipboardWrite", { text: "x" }],
    ] as const) {
      const error = await failure(bench.call(tool, input));
      expect(error).toMatchObject({ code: "TOOL_EXECUTION_FAILED", details: { reason: "NO_CLIPBOARD" } });
      expect(error.message).toContain("xclip: it is broken");
    }
  });

  it("are ended with the call that is cancelled", async () => {
    const { bench, programs } = await withXclip('echo $$ > "$here/pid"; while :; do :; done');
    const stop = new AbortController();
    const put = new ClipboardServer().put({
      ...{
        file: programs.at("xclip"),
        args: [],
        env: process.env,
        cwd: "/",
        stdin: "x",
        signal: stop.signal,
      },
      isThere: undefined,
    });
    const pid = Number(await programs.said("pid"));
    stop.abort(Object.assign(new Error("cancelled"), { code: "CANCELLED" }));
    expect((await failure(put)).code).toBe("CANCELLED");
    await until("it has ended", () => !isRunning(pid));
    bench.desktop.close();
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
