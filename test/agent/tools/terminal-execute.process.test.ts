/** Commands in a terminal's shell, and keys: with a real holder and real shells. */
import { existsSync } from "node:fs";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, it, test, vi } from "vitest";
import { NEEDS_SANDBOX } from "../sandbox/needs-sandbox.ts";
import { failure, isAlive, processesMarked, Workbench } from "./workbench.ts";

const bash = { shell: "/bin/bash" };

interface Ran {
  output: string;
  exit: number | undefined;
  terminal: string;
  running: unknown;
}

async function run(bench: Workbench, command: string, more: object = {}): Promise<Ran> {
  const { output, exit, metadata } = await bench.call("TerminalExecute", { command, ...more });
  return { output, exit, terminal: String(metadata?.terminal), running: metadata?.running };
}

/** Cancels a call; the terminal takes the next command. */
async function cancelled(bench: Workbench, terminal: unknown, command: string, isBegun: () => Promise<void>) {
  const stop = new AbortController();
  const call = bench.call("TerminalExecute", { command, terminal }, { signal: stop.signal });
  await isBegun();
  const reason = Object.assign(new Error("cancelled"), { code: "CANCELLED" });
  stop.abort(reason);
  expect(await failure(call)).toBe(reason);
  expect(await run(bench, "echo again", { terminal })).toMatchObject({ output: "again\n" });
}

const CHANGED = {
  bash: [".bashrc", "alias hi='echo hi there'\nPS1='mine$ '\nPROMPT_COMMAND='true'\n"],
  zsh: [".zshrc", "alias hi='echo hi there'\nPS1='mine%% '\n"],
  fish: [".config/fish/config.fish", "alias hi='echo hi there'\nset -g fish_greeting\n"],
} as const;

it.each(["bash", "zsh", "fish"] as const)(
  "commands run one after another in %s, in the state that they leave behind",
  async (shell) => {
    const bench = await Workbench.open();
    const [file, text] = CHANGED[shell];
    await bench.put(file, text);
    const { metadata } = await bench.call("TerminalCreate", { shell });
    const { terminal } = metadata ?? {};
    expect(await run(bench, "hi", { terminal })).toMatchObject({ output: "hi there\n", exit: 0 });
    expect(await run(bench, "false", { terminal })).toMatchObject({ output: "[Exit code 1]", exit: 1 });
    await run(bench, "mkdir -p 'a#b?c%d e'; cd 'a#b?c%d e'", { terminal });
    expect((await run(bench, "pwd", { terminal })).output).toBe(`${bench.at("a#b?c%d e")}\n`);
    expect((await run(bench, "printf 'no new line'", { terminal })).output).toBe("no new line");
    expect((await run(bench, "no-such-program", { terminal })).exit).toBe(127);
    if (shell !== "fish") {
      const traced = await run(bench, "set -x; echo traced", { terminal });
      expect(traced.output).toMatch(/^.*echo traced\ntraced\n$/);
      expect((await run(bench, "set +x", { terminal })).output).toMatch(/^.*set \+x\n$/);
    }
    expect((await run(bench, "echo one\necho two", { terminal })).output).toBe("one\ntwo\n");
    const { metadata: listed } = await bench.call("TerminalList", {});
    expect(listed?.terminals).toMatchObject([{ terminal, cwd: bench.at("a#b?c%d e") }]);
  },
);

test.each([
  ["bash", "a command before each prompt", "PROMPT_COMMAND=true"],
  ["bash", "its own settings again", "PROMPT_COMMAND='PS1=\"new> \"'; PS0='run: '; PS1='other> '"],
  ["bash", "no command before a prompt", "unset PROMPT_COMMAND"],
  ["zsh", "a prompt", "PS1='new> '"],
  ["zsh", "a prompt that is made anew each time", "remake() { PS1='new> ' }; precmd_functions+=(remake)"],
  ["fish", "a prompt", "function fish_prompt; echo 'new> '; end"],
] as const)("%s that is given %s still tells how commands end", async (shell, _what, settings) => {
  const bench = await Workbench.open();
  const { metadata } = await bench.call("TerminalCreate", { shell });
  const { terminal } = metadata ?? {};
  const patient = { terminal, yield_ms: 5000 };
  expect(await run(bench, settings, patient)).toMatchObject({ running: false });
  for (const [command, exit] of [
    ["echo one", 0],
    ["echo one; sh -c 'exit 3'", 3],
  ] as const) {
    const ran = await run(bench, command, patient);
    expect(ran).toMatchObject({ output: expect.stringMatching(/one\n/), running: false });
    expect(ran.exit).toBe(settings.startsWith("unset") ? undefined : exit);
  }
});

test("zsh whose own files make the prompt anew each time tells how commands end", async () => {
  const bench = await Workbench.open();
  await bench.put(
    ".zshrc",
    "autoload -Uz add-zsh-hook\nremake() { PS1='new> ' }\nadd-zsh-hook precmd remake\n",
  );
  const { metadata } = await bench.call("TerminalCreate", { shell: "zsh" });
  const { terminal } = metadata ?? {};
  for (const _ of [1, 2])
    expect(await run(bench, "echo one; (exit 3)", { terminal })).toMatchObject({
      output: "one\n[Exit code 3]",
      exit: 3,
    });
});

test("without a terminal it runs in the session's own, which is opened once", async () => {
  const bench = await Workbench.open();
  const { terminal } = await run(bench, "x=kept");
  expect(await run(bench, 'echo "$x"')).toMatchObject({ output: "kept\n", terminal });
  const other = await bench.call(
    "TerminalExecute",
    { command: 'echo "<$x>"' },
    { session: bench.newSession() },
  );
  expect(other).toMatchObject({ output: "<>\n" });
  expect(other.metadata?.terminal).not.toBe(terminal);
});

test("commands of one session at the same time run in terminals of their own", async () => {
  const bench = await Workbench.open();
  await run(bench, "true");
  const all = await Promise.all([1, 2, 3].map((number) => run(bench, `sleep 0.3; echo ${number}`)));
  expect(all.map(({ output }) => output)).toEqual(["1\n", "2\n", "3\n"]);
  expect(new Set(all.map(({ terminal }) => terminal)).size).toBe(3);
});

test("the oldest idle terminal that was opened for a command makes room, one that was asked for never", async () => {
  const bench = await Workbench.open();
  const run = async (command: string, yield_ms = 10_000) =>
    await bench.call("TerminalExecute", { command, yield_ms }, { session: bench.newSession() });
  const listed = async () =>
    (await bench.call("TerminalList", {})).metadata?.terminals as { terminal: string }[];
  await bench.call("TerminalCreate", bash);
  await run("sleep 1000", 100);
  for (let count = 2; count < 16; count++) await run("true");
  const [asked, busy, idle, ...others] = (await listed()).map(({ terminal }) => terminal);
  const { metadata } = await run("true");
  expect((await listed()).map(({ terminal }) => terminal)).toEqual([
    asked,
    busy,
    ...others,
    metadata?.terminal,
  ]);
  expect(idle).toBeDefined();
  expect(await failure(bench.call("TerminalInput", { terminal: idle }))).toMatchObject({ code: "NOT_FOUND" });
}, 30_000);

test("many at once get at most 16 terminals, and none of them is closed under a command", async () => {
  const bench = await Workbench.open();
  for (let round = 0; round < 2; round++) {
    const refused: unknown[] = [];
    const calls = Array.from({ length: 20 }, (_, n) =>
      bench
        .call("TerminalExecute", {
          command: `until [ -e ${bench.at(`go${round}`)} ]; do sleep 0.1; done; echo ${n}`,
        })
        .catch((error: unknown) => void refused.push(error)),
    );
    await vi.waitFor(() => expect(refused).toHaveLength(4), 20_000);
    expect(refused).toMatchObject(Array(4).fill({ code: "RATE_LIMITED" }));
    await bench.put(`go${round}`, "");
    const done = (await Promise.all(calls)).flatMap((answer) => (answer ? [answer.output] : []));
    expect(new Set(done).size).toBe(16);
    expect((await bench.call("TerminalList", {})).metadata?.terminals).toHaveLength(16);
  }
}, 60_000);

test("what somebody had begun to type is not run with it", async () => {
  const bench = await Workbench.open();
  const { terminal } = await run(bench, "true");
  await bench.call("TerminalInput", { terminal, text: "echo stray" });
  expect(await run(bench, "echo mine", { terminal })).toMatchObject({ output: "mine\n", exit: 0 });
});

test("a long command is answered in between, answered with keys, and interrupted", async () => {
  const bench = await Workbench.open();
  const asked = await run(bench, 'read -r -p "Who? " who; echo "hello $who"; sleep 1000', { yield_ms: 300 });
  const { terminal } = asked;
  expect(asked).toMatchObject({ running: true, exit: undefined });
  expect(asked.output).toBe(`Who? \n[It still runs in ${terminal}: go on with TerminalInput]`);
  const typed = await bench.call("TerminalInput", { terminal, text: "Ann\n" });
  expect(typed.output).toMatch(/Who\? Ann\nhello Ann$/);
  expect(typed.metadata).toMatchObject({ prompt: false, foreground: "sleep 1000" });
  expect(await failure(run(bench, "echo no", { terminal }))).toMatchObject({
    code: "CONFLICT",
    message: "A program is running in it: sleep 1000",
  });
  const ended = await bench.call("TerminalInput", { terminal, keys: ["ctrl-c"] });
  expect(ended.metadata).toMatchObject({ prompt: true });
});

test("a cancelled call interrupts its command", async () => {
  const bench = await Workbench.open();
  const { terminal } = await run(bench, "true");
  const terminals = async () => (await bench.call("TerminalList", {})).output;
  await cancelled(bench, terminal, "sleep 1000", () =>
    expect.poll(terminals, { timeout: 10_000 }).toContain("sleep 1000"),
  );
});

test.each([
  ["zsh", ".zshrc", "preexec() { touch hooked; sleep 1 }"],
  ["fish", ".config/fish/config.fish", "function before --on-event fish_preexec; touch hooked; sleep 1; end"],
])("a command is interrupted that %s has not begun yet", async (shell, file, slowly) => {
  const bench = await Workbench.open();
  await bench.put(file, `${slowly}\n`);
  const { metadata } = await bench.call("TerminalCreate", { shell });
  const isHooked = () => existsSync(bench.at("hooked"));
  await cancelled(bench, metadata?.terminal, "sleep 1000", () =>
    expect.poll(isHooked, { timeout: 10_000 }).toBe(true),
  );
});

test("a cancelled call takes the line away that the shell waits for the rest of", async () => {
  const bench = await Workbench.open();
  const { terminal } = await run(bench, "true");
  const screen = async () => (await bench.call("TerminalInput", { terminal, text: "" })).output;
  await cancelled(bench, terminal, "echo 'begun", () =>
    expect.poll(screen, { timeout: 10_000 }).toContain("'begun"),
  );
});

test.each([
  ["a syntax error", "if then"],
  ["a word of the history that is not there", 'echo "done!nothing"'],
])("%s is told as what the shell did not run, and the next command runs", async (_, command) => {
  const bench = await Workbench.open();
  const refused = await run(bench, command);
  expect(refused).toMatchObject({ exit: undefined, running: false });
  expect(refused.output).toMatch(/(?:syntax error|event not found)[\s\S]*\[The shell did not run it\]$/);
  expect(await run(bench, "echo next", { terminal: refused.terminal })).toMatchObject({
    output: "next\n",
    exit: 0,
  });
});

test("a quote that is not closed is told, and finished with keys", async () => {
  const bench = await Workbench.open();
  const { terminal, ...open } = await run(bench, 'echo "begun', { yield_ms: 1000 });
  expect(open.running).toBe(true);
  expect(open.output).toContain("[The shell waits for the rest of it");
  const { output } = await bench.call("TerminalInput", { terminal, text: 'ended"\n' });
  expect(output).toContain("begun\nended");
});

test("the terminal that ends with its command is told, and then it is gone", async () => {
  const bench = await Workbench.open();
  const { terminal, ...ended } = await run(bench, "echo bye; exit 3");
  expect(ended).toMatchObject({ exit: 3, running: false });
  expect(ended.output).toBe(`bye\nexit\n[${terminal} ended with it]`);
  for (const [tool, input] of [
    ["TerminalExecute", { command: "echo" }],
    ["TerminalInput", { text: "x" }],
  ] as const)
    expect((await failure(bench.call(tool, { terminal, ...input }))).code).toBe("CONFLICT");
});

test("what the terminal wrote is told from the note after it, and so is that the terminal ended with it", async () => {
  const bench = await Workbench.open();
  const { metadata: opened } = await bench.call("TerminalCreate", bash);
  const { terminal } = opened ?? {};
  for (const [command, text, note] of [
    ["printf hi", "hi", ""],
    ["printf hi; false", "hi", "\n[Exit code 1]"],
    ["echo '[Exit code 1]'; false", "[Exit code 1]\n", "[Exit code 1]"],
    ["echo bye; exit 3", "bye\nexit\n", `[${terminal} ended with it]`],
  ] as const) {
    const { output, metadata } = await bench.call("TerminalExecute", { command, terminal });
    expect(output).toBe(text + note);
    expect(metadata).toMatchObject({ output_chars: text.length });
    expect(metadata?.ended).toBe(command.endsWith("exit 3") ? true : undefined);
  }
});

test("a prompt that is drawn again before a busy shell reads what was typed is no refusal", async () => {
  const bench = await Workbench.open();
  const { metadata } = await bench.call("TerminalCreate", { ...bash, cwd: bench.home });
  const terminal = String(metadata?.terminal);
  // As on a busy machine, where the shell draws its prompt for another size, and then has to wait for its turn.
  const draw = String.raw`printf '\e]133;B;nonce=%s\a' "$__matrx_nonce"`;
  await run(bench, `trap 'touch begun; sleep 0.7; ${draw.replaceAll("'", `'\\''`)}; sleep 1' WINCH`, {
    terminal,
  });
  // bash heeds a size that comes before it waits for keys, which is just after its prompt, only once a line is typed.
  let cols = 100;
  const begins = async () => {
    if (existsSync(bench.at("begun"))) return true;
    await bench.terminals.resize(terminal, { cols: cols++, rows: 30 }, bench.owner);
    return false;
  };
  await expect.poll(begins, { interval: 500 }).toBe(true);
  expect(await run(bench, "echo ran", { terminal })).toMatchObject({ output: "ran\n", exit: 0 });
});

test.each(["bash", "zsh"])(
  "%s marks the beginning of each new prompt, and not of one that it draws again",
  async (shell) => {
    const bench = await Workbench.open();
    const { metadata } = await bench.call("TerminalCreate", { shell });
    const id = String(metadata?.terminal);
    expect((await run(bench, "true", { terminal: id })).exit).toBe(0);
    const viewer = await bench.terminals.attach({ id, from: "now", write: true }, bench.owner);
    const marks: string[] = [];
    const watched = (async () => {
      for await (const piece of viewer.flow())
        if (piece.kind === "event" && piece.event.event === "mark") marks.push(piece.event.mark);
    })();
    await bench.terminals.resize(id, { cols: 100, rows: 30 }, bench.owner);
    await expect.poll(() => marks).toEqual(["input"]);
    await viewer.write(Buffer.from("\r"));
    await expect.poll(() => marks).toEqual(["input", "prompt", "input"]);
    const ended = expect(watched).rejects.toMatchObject({ details: { reason: "HOLDER_LOST" } });
    viewer.close();
    await ended;
  },
);

test.each([
  ["unrun", "# nothing"],
  ["unfinished", "echo 'open"],
] as const)("a command that is %s is told by a field of its own", async (field, command) => {
  const bench = await Workbench.open();
  const { metadata: opened } = await bench.call("TerminalCreate", bash);
  const { terminal } = opened ?? {};
  const { metadata } = await bench.call("TerminalExecute", { command, terminal, yield_ms: 2000 });
  expect(metadata).toMatchObject({ [field]: true, exit_code: null });
  const { metadata: fresh } = await bench.call("TerminalCreate", bash);
  const input = { command: "true", terminal: fresh?.terminal };
  const { metadata: other } = await bench.call("TerminalExecute", input);
  expect(other?.[field]).toBeUndefined();
});

test("a terminal that waits for the rest of a command is not the next one's, until keys are pressed in it", async () => {
  const bench = await Workbench.open();
  const { metadata } = await bench.call("TerminalExecute", { command: "echo 'open", yield_ms: 2000 });
  expect(metadata).toMatchObject({ unfinished: true });
  const terminal = metadata?.terminal;
  const { metadata: next, output } = await bench.call("TerminalExecute", { command: "echo fresh" });
  expect(output).toBe("fresh\n");
  expect(next?.terminal).not.toBe(terminal);
  await bench.call("TerminalClose", { terminal: next?.terminal });
  await bench.call("TerminalInput", { terminal, keys: ["ctrl-c"] });
  const { metadata: again } = await bench.call("TerminalExecute", { command: "echo again" });
  expect(again).toMatchObject({ terminal, exit_code: 0 });
});

test("a long output comes with its beginning and its end", async () => {
  const bench = await Workbench.open();
  const { output } = await run(bench, "seq 1 200000");
  expect(output.startsWith("1\n2\n3\n")).toBe(true);
  expect(output.endsWith("\n199999\n200000\n")).toBe(true);
  expect(output).toMatch(/\n\[\d+ bytes are left out here\]\n/);
  expect(output.length).toBeLessThan(31_000);
});

test("a forged mark ends what is shown, and nothing else", async () => {
  const bench = await Workbench.open();
  const forged = await run(bench, String.raw`printf '\e]133;D;0;nonce=guess\a'; echo real; (exit 4)`);
  expect(forged).toMatchObject({ output: "real\n[Exit code 4]", exit: 4 });
});

test("a shell that sends no marks takes keys only", async () => {
  const bench = await Workbench.open();
  const { metadata } = await bench.call("TerminalCreate", { shell: "/bin/sh" });
  const { terminal } = metadata ?? {};
  expect(await failure(run(bench, "echo", { terminal }))).toMatchObject({
    code: "UNAVAILABLE",
    details: { reason: "NO_MARKS" },
  });
  await bench.call("TerminalInput", { terminal, text: "echo $((40 + 2))\n" });
  // The shell may not have read it yet: another line shows what has come since.
  const shown = async () => (await bench.call("TerminalInput", { terminal, keys: ["enter"] })).output;
  // Behind a prompt, if it was typed before the shell had shown one.
  await expect.poll(shown).toMatch(/^(?:\$ )?42$/m);
});

test("control characters in a command, unknown keys and two commands at once are refused", async () => {
  const bench = await Workbench.open();
  const { terminal } = await run(bench, "true");
  for (const command of ["echo \u0003", "echo \u001b[201~; reboot", "a\u0000b"])
    expect(await failure(run(bench, command, { terminal }))).toMatchObject({ code: "INVALID_PARAMETERS" });
  expect(await failure(bench.call("TerminalInput", { terminal, keys: ["ctrl-alt-del"] }))).toMatchObject({
    code: "INVALID_PARAMETERS",
    details: { field: "keys" },
  });
  const first = run(bench, "sleep 0.3; echo first", { terminal });
  expect(await failure(run(bench, "echo second", { terminal }))).toMatchObject({ code: "CONFLICT" });
  expect((await first).output).toBe("first\n");
});

test("keys steer a program that draws on the whole screen", async () => {
  const bench = await Workbench.open();
  await bench.put("text", Array.from({ length: 100 }, (_, i) => `line ${i + 1}`).join("\n"));
  const { terminal, output } = await run(bench, "less text", { yield_ms: 500 });
  expect(output).toMatch(/^line 1\nline 2\n[\s\S]*\nline 23\n.*\n\[It still runs in/);
  const look = async (input: object) => await bench.call("TerminalInput", { terminal, ...input });
  expect((await look({})).metadata).toMatchObject({ alternate_screen: true, foreground: "less text" });
  expect((await look({ keys: ["page-down", "down"] })).output).toMatch(/^line 25\n/);
  expect((await look({ text: "/line 77\n" })).output).toMatch(/^line 77\n/);
  expect((await look({ keys: ["up", "q"] })).metadata).toMatchObject({
    prompt: true,
    alternate_screen: false,
  });
});

describe("a terminal of an AI grant", NEEDS_SANDBOX, () => {
  const openConfined = async (more: Partial<GrantScope> = {}) => {
    const bench = await Workbench.open();
    await bench.put("work/file", "content\n");
    await bench.put("work/.env", "SECRET=1\n");
    await bench.put("private/file", "not granted\n");
    const grant: GrantScope = { ...bench.owner, id: makeGrantId(), owner: false, paths: [bench.at("work")] };
    const as = { grant: { ...grant, ...more }, session: bench.newSession({ ...grant, ...more }) };
    const type = async (command: string, input: object = {}) =>
      await bench.call("TerminalExecute", { command, ...input }, as);
    return { bench, as, type };
  };

  it("runs in the sandbox: it sees the granted folder, and neither secrets nor anything else", async () => {
    const { bench, type } = await openConfined();
    expect(await type("pwd; cat file")).toMatchObject({ output: `${bench.at("work")}\ncontent\n`, exit: 0 });
    for (const closed of ["work/.env", "private/file", "../state/terminals/shells/bash.sh"])
      expect((await type(`cat ${bench.at(closed)}`)).exit).toBe(1);
    expect((await type(`: > /dev/tcp/127.0.0.1/22`)).exit).toBe(1);
    const { output } = await type("cat /proc/1/environ | tr '\\0' '\\n'; env");
    expect(output).not.toContain(bench.state);
    expect(output).toMatch(/^SHELL=\S+\/bash$/m);
    expect(output).toMatch(/^TERM=xterm-256color$/m);
  });

  it("has job control: stopping, background, foreground, and a size", async () => {
    const { bench, as, type } = await openConfined();
    const { metadata } = await bench.call("TerminalCreate", { cols: 100, rows: 30 }, as);
    const { terminal } = metadata ?? {};
    expect((await type("stty size", { terminal })).output).toBe("30 100\n");
    expect((await type("sleep 1000", { terminal, yield_ms: 500 })).metadata).toMatchObject({ running: true });
    const press = async (keys: string[]) => await bench.call("TerminalInput", { terminal, keys }, as);
    expect((await press(["ctrl-z"])).metadata).toMatchObject({ prompt: true });
    expect((await type("jobs", { terminal })).output).toMatch(/Stopped\s+sleep 1000/);
    expect((await type("fg", { terminal, yield_ms: 500 })).metadata).toMatchObject({ running: true });
    expect((await press(["ctrl-c"])).metadata).toMatchObject({ prompt: true });
  });

  it("outlives the agent, and ends with all that it started", async () => {
    const { bench, as, type } = await openConfined();
    const { metadata } = await type("x=kept; sleep 1000 & sleep 1000 & true");
    const terminal = String(metadata?.terminal);
    await bench.restart();
    expect((await type("echo $x", { terminal })).output).toBe("kept\n");
    const pids = processesMarked(terminal);
    expect(pids.length).toBeGreaterThanOrEqual(4);
    expect((await bench.call("TerminalClose", { terminal }, as)).metadata).toMatchObject({
      processes_left: 0,
    });
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it("is closed to the same grant under other limits, and open to the owner", async () => {
    const { bench, as, type } = await openConfined();
    const { metadata } = await type("true");
    const { terminal } = metadata ?? {};
    const narrowed = { ...as, grant: { ...as.grant, denied_paths: [bench.at("work/file")] } };
    for (const [tool, input] of [
      ["TerminalExecute", { command: "cat file" }],
      ["TerminalInput", { text: "cat file\n" }],
      ["TerminalAttach", {}],
    ] as const)
      expect(
        await failure(bench.call(tool, { terminal, ...input }, { ...narrowed, opensStream: true })),
      ).toMatchObject({
        code: "PERMISSION_DENIED",
        details: { reason: "OTHER_LIMITS" },
      });
    // Without a name it gets one of its own.
    const other = await bench.call("TerminalExecute", { command: "cat file" }, narrowed);
    expect(other.exit).toBe(1);
    expect(other.metadata?.terminal).not.toBe(terminal);
    expect((await bench.call("TerminalInput", { terminal }, {})).metadata).toMatchObject({ prompt: true });
  });

  it("begins in no folder that was not granted, and with no program of the user's", async () => {
    const { bench, as } = await openConfined();
    await bench.put("work/shell", "#!/bin/sh\n");
    for (const input of [
      { cwd: bench.at("private") },
      { cwd: "/" },
      { cwd: bench.at("none") },
      { shell: bench.at("work/shell") },
      { shell: "../../bin/bash" },
      { shell: "no-such-shell" },
    ])
      expect((await failure(bench.call("TerminalCreate", input, as))).code).toMatch(
        /^(?:PERMISSION_DENIED|INVALID_PARAMETERS)$/,
      );
    const { metadata } = await bench.call("TerminalCreate", { cwd: bench.at("work"), shell: "zsh" }, as);
    expect(metadata).toMatchObject({ cwd: bench.at("work"), shell: expect.stringMatching(/\/zsh$/) });
    const { terminal } = metadata ?? {};
    const { output } = await bench.call("TerminalExecute", { command: "cat file", terminal }, as);
    expect(output).toBe("content\n");
  });

  it("does not get into the owner's terminal, nor another grant's", async () => {
    const { bench, as } = await openConfined();
    const own = await run(bench, "true");
    const other = { ...as, grant: { ...as.grant, id: makeGrantId() } };
    const { metadata } = await bench.call("TerminalExecute", { command: "true" }, other);
    for (const terminal of [own.terminal, metadata?.terminal])
      for (const [tool, input] of [
        ["TerminalExecute", { command: "true" }],
        ["TerminalInput", {}],
        ["TerminalClose", {}],
      ] as const)
        expect((await failure(bench.call(tool, { terminal, ...input }, as))).code).toBe("NOT_FOUND");
  });
});
