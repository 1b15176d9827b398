/** `matrx shell` in a real pseudo terminal, with a real shell behind relay and agent. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { MATRX_BIN } from "../../scripts/matrx-bin.ts";
import { makeToken } from "../../scripts/start/owner.ts";
import { runMatrx } from "../agent/cli/matrx.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { callerArgs } from "./forwarding.ts";
import { stopWithHolder } from "./holders.ts";
import { type Rig, startRig } from "./rig.ts";
import { StreamCaller } from "./stream-caller.ts";

const MINUTE = { timeout: 60_000 };
const POLL = { interval: 20 };

let rig: Rig;
let home: string | undefined;

beforeAll(async () => {
  // What the user's own shell does when it starts is none of a test's business.
  home = makeFolder();
  vi.stubEnv("HOME", home);
  rig = await startRig();
});
afterAll(async () => {
  if (rig) await stopWithHolder(rig);
  if (home) removeFolder(home);
  vi.unstubAllEnvs();
});

/** A person at a terminal. */
class Seat {
  readonly #pty;
  readonly exit: Promise<number>;
  output = "";

  constructor(...words: string[]) {
    const { home, args } = callerArgs(rig);
    this.#pty = spawn(process.execPath, [MATRX_BIN, "shell", rig.device, ...words, ...args], {
      ...{ name: "xterm-256color", cols: 100, rows: 30, cwd: home },
      env: { ...process.env, MATRX_HOME: home, MATRX_PROTECTED: home, TERM: "xterm-256color" },
    });
    this.#pty.onData((data) => {
      this.output += data;
    });
    this.exit = new Promise((resolve) => this.#pty.onExit(({ exitCode }) => resolve(exitCode)));
    let isOver = false;
    void this.exit.then(() => {
      isOver = true;
    });
    onTestFinished(() => {
      if (!isOver) this.#pty.kill("SIGKILL");
    });
  }

  type(keys: string): void {
    this.#pty.write(keys);
  }

  resize(cols: number, rows: number): void {
    this.#pty.resize(cols, rows);
  }

  /** Waits until the output since the last call has this. */
  async sees(text: string | RegExp): Promise<void> {
    await expect.poll(() => this.output, POLL).toMatch(text);
    this.output = "";
  }
}

/** What is typed shows too: only the result has it in one piece. */
const says = (word: string) => `echo ${word[0]}''${word.slice(1)}\r`;

/** A size is sent beside what is typed, so it may come later. */
const waitsFor = (size: string) =>
  `until [ "$(stty size)" = "${size}" ]; do sleep 0.02; done; ${says("sized")}`;

test("keys, sizes, Ctrl-C and the exit code are those of a terminal", MINUTE, async () => {
  const seat = new Seat();
  seat.type(says("ready"));
  await seat.sees("ready");
  seat.type("stty size\r");
  await seat.sees("30 100");
  seat.type(waitsFor("40 120"));
  seat.resize(120, 40);
  await seat.sees("sized");
  // Once it has printed, it and not the shell is what Ctrl-C ends.
  seat.type(`sh -c 'echo sl""eeping; exec sleep 1000'\r`);
  await seat.sees("sleeping");
  seat.type("\u0003");
  // Until then the terminal may throw away what is typed.
  await seat.sees("^C");
  seat.type(says("back"));
  await seat.sees("back");
  seat.type("exit 7\r");
  expect(await seat.exit).toBe(7);
});

test(
  "who leaves finds the terminal again as it was, and programs that draw on the whole screen too",
  MINUTE,
  async () => {
    const seat = new Seat("--name", "work");
    seat.type(`KEPT=val''ue; ${says("set")}`);
    await seat.sees("set");
    seat.type("less /etc/passwd\r");
    await seat.sees("\u001b[?1049h");
    seat.type("\r~.");
    expect(await seat.exit).toBe(0);
    expect(seat.output).toContain("--name work");
    const again = new Seat("--name", "work");
    await again.sees("root:");
    again.type("q");
    again.type("echo $KEPT\r");
    await again.sees("value");
    again.type("exit\r");
    expect(await again.exit).toBe(0);
  },
);

test("who leaves before the terminal is there is back at once", MINUTE, async () => {
  const seat = new Seat("--name", "early");
  seat.type("\r~.");
  expect(await seat.exit).toBe(0);
  const { home, args } = callerArgs(rig);
  await runMatrx(["shell", rig.device, "--close", "early", ...args], { home });
});

test("~ n goes from one open terminal to the next, and around", MINUTE, async () => {
  const first = new Seat("--name", "first");
  first.type(`HERE=on''e; ${says("ready")}`);
  await first.sees("ready");
  const seat = new Seat("--name", "second");
  seat.type(`HERE=tw''o; ${says("ready")}`);
  await seat.sees("ready");
  for (const [name, word] of [
    ["first", "one"],
    ["second", "two"],
  ] as const) {
    seat.type("\r~n");
    await seat.sees(`Now in ${name}`);
    seat.type('echo "now-$HERE"\r');
    await seat.sees(`now-${word}`);
  }
  seat.type("\r~n");
  await seat.sees("Now in first");
  seat.type("\r~.");
  expect(await seat.exit).toBe(0);
  expect(seat.output).toContain("--name first");
  first.type("exit\r");
  await first.exit;
  const last = new Seat("--name", "second");
  await last.sees("now-two");
  last.type("\r~n");
  await last.sees("No other terminal is open there");
  last.type("exit 4\r");
  expect(await last.exit).toBe(4);
});

test("the help says who else is in the terminal", MINUTE, async () => {
  const seat = new Seat("--name", "shared");
  seat.type(says("ready"));
  await seat.sees("ready");
  const other = new Seat("--name", "shared");
  // Its output repeats what the first one saw.
  await other.sees("ready");
  await expect
    .poll(() => {
      seat.type("\r~?");
      return seat.output;
    }, POLL)
    .toContain("2 are in this terminal: owner (types), owner (types)");
  other.type("exit\r");
  expect([await other.exit, await seat.exit]).toEqual([0, 0]);
});

test("a long paste arrives whole", MINUTE, async () => {
  const seat = new Seat();
  const pasted = Array.from({ length: 40_000 }, (_, line) => `${String(line).padStart(6, "0")}\n`).join("");
  const hash = createHash("sha256").update(pasted).digest("hex");
  seat.type(`stty raw -echo; ${says("ready").trim()}; head -c ${pasted.length} | sha256sum; stty sane\r`);
  await seat.sees("ready");
  seat.type(pasted);
  await seat.sees(hash);
  seat.type("exit\r");
  expect(await seat.exit).toBe(0);
});

test("a terminal wider than a device takes shows what fits", MINUTE, async () => {
  const seat = new Seat();
  seat.type(says("ready"));
  await seat.sees("ready");
  seat.type(waitsFor("30 1000"));
  seat.resize(2000, 30);
  await seat.sees("sized");
  seat.type("exit\r");
  expect(await seat.exit).toBe(0);
});

test("whoever leaves an editor gets keys, mouse and scrolling back as they were", MINUTE, async () => {
  const seat = new Seat("--name", "editor");
  seat.type("printf '\\033[?1004h\\033[>4;2m\\033[2;5r'; cat\r");
  await seat.sees("\u001b[>4;2m");
  seat.type("\r~.");
  expect(await seat.exit).toBe(0);
  for (const undo of ["\u001b[?1004l", "\u001b[>4m", "\u001b[r"]) expect(seat.output).toContain(undo);
  const again = new Seat("--name", "editor");
  // Before that, its own terminal would take Ctrl-D.
  await again.sees("\u001b[2J");
  again.type("\u0004");
  again.type("exit 3\r");
  expect(await again.exit).toBe(3);
});

test("a lost connection comes back by itself, and what happened meanwhile is shown", MINUTE, async () => {
  const seat = new Seat();
  seat.type(says("ready"));
  await seat.sees("ready");
  seat.type("for i in 1 2 3 4 5 6 7 8; do sleep 0.3; echo tick-$i; done\r");
  await seat.sees("tick-2");
  rig.line.cut();
  await seat.sees("trying again");
  await seat.sees("tick-8");
  seat.type(says("alive"));
  await seat.sees("alive");
  seat.type("exit\r");
  expect(await seat.exit).toBe(0);
});

test.each([
  ["KILL", 137],
  ["HUP", 129],
  ["34", 162],
])("a shell that is ended by signal %s ends with exit code %i", MINUTE, async (signal, code) => {
  const seat = new Seat();
  seat.type(`exec sh -c 'kill -${signal} $$'\r`);
  expect(await seat.exit).toBe(code);
});

test(
  "what was typed before a connection broke, and nothing followed, is said to be uncertain",
  MINUTE,
  async () => {
    const seat = new Seat();
    seat.type("echo as''ks; read -rsN6 secret; touch ~/arrived; read -rs more; exit\r");
    await seat.sees("asks");
    seat.type("hidden");
    await expect.poll(() => existsSync(join(String(home), "arrived")), POLL).toBe(true);
    rig.line.cut();
    await seat.sees("what you typed last may not have arrived; trying again");
    seat.type("\r");
    expect(await seat.exit).toBe(0);
  },
);

test("terminals are listed and closed by name", MINUTE, async () => {
  const seat = new Seat("--name", "to close");
  seat.type(says("ready"));
  await seat.sees("ready");
  const { home, args } = callerArgs(rig);
  const matrx = (...words: string[]) => runMatrx(["shell", rig.device, ...words, ...args], { home });
  const listed = await matrx("--list", "--json");
  expect(JSON.parse(listed.stdout)).toMatchObject({ terminals: [{ name: "to close", running: true }] });
  expect((await matrx("--close", "to close")).code).toBe(0);
  expect(await seat.exit).not.toBe(0);
  expect(JSON.parse((await matrx("--list", "--json")).stdout)).toEqual({ terminals: [] });
  expect(await matrx("--close", "none")).toMatchObject({ code: 66 });
  expect(await matrx()).toMatchObject({ code: 64, stderr: expect.stringContaining("matrx run") });
});

test("a name is that of one's own terminal: an AI cannot have it", MINUTE, async () => {
  const owner = await rig.relay.signIn();
  const ai = await makeToken(rig.relay, owner, { name: "ai", paths: ["/"], ask: [] });
  using caller = await StreamCaller.open(rig.relay.url, rig.device, ai);
  const { metadata } = await caller.call("TerminalCreate", { name: "mine" });
  const terminal = String(metadata?.terminal);
  const { home, args } = callerArgs(rig);
  const matrx = (...words: string[]) => runMatrx(["shell", rig.device, ...words, ...args], { home });
  const listed = await matrx("--list", "--json");
  expect(JSON.parse(listed.stdout)).toMatchObject({ terminals: [{ terminal, own: false }] });
  expect((await matrx("--close", "mine")).code).toBe(66);
  const seat = new Seat("--name", "mine");
  seat.type(says("ready"));
  await seat.sees("ready");
  seat.type("\r~.");
  await seat.exit;
  expect((await matrx("--close", terminal)).code).toBe(0);
  expect((await matrx("--close", "mine")).code).toBe(0);
  expect(JSON.parse((await matrx("--list", "--json")).stdout)).toEqual({ terminals: [] });
});
