import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, it } from "vitest";
import { LiveOutput, type OutputPiece } from "../../../agent/core/live-output.ts";
import { currentPlatform } from "../../../agent/platform/current.ts";
import { posixShell } from "../../../agent/platform/posix.ts";
import { failure, isAlive, processesMarked, Workbench } from "./workbench.ts";

describe("a command's answer", () => {
  it("holds what it wrote, in order, to both channels, however they were opened", async () => {
    const bench = await Workbench.open();
    const command = "echo one; echo two >&2; echo three > /dev/stderr; echo four > /dev/stdout; printf five";
    const { output, exit, metadata } = await bench.call("Bash", { command });
    expect(output).toBe("one\ntwo\nthree\nfour\nfive");
    expect(exit).toBe(0);
    expect(metadata).toMatchObject({ exit_code: 0, cwd: bench.home, timed_out: false, truncated: false });
  });

  it("says an exit code that is not 0, and is no error", async () => {
    const bench = await Workbench.open();
    const { output, exit } = await bench.call("Bash", { command: "echo before; exit 7" });
    expect(output).toBe("before\n[Exit code 7]");
    expect(exit).toBe(7);
  });

  it.each([
    ["a syntax error", "if", 2],
    ["set -e", "set -e; false; echo never", 1],
    ["a trailing comment", "true # done", 0],
    ["a killed shell", "kill -9 $$", 137],
    ["exec", "exec sh -c 'exit 5'", 5],
    ["an unset variable under set -u", "set -u; echo $nope", 127],
    ["a pipe that fails at its end", "true | false", 1],
    ["an unknown program", "no-such-program-here", 127],
  ])("gives the exit code after %s", async (_what, command, code) => {
    const bench = await Workbench.open();
    expect((await bench.call("Bash", { command })).exit).toBe(code);
  });

  it("counts the lines of the command from 1", async () => {
    const bench = await Workbench.open();
    const { output } = await bench.call("Bash", { command: "true\nno-such-program" });
    expect(output).toMatch(/^bash: line 2: no-such-program: command not found/);
  });

  it("shows nothing of what the agent itself has the shell do", async () => {
    const bench = await Workbench.open();
    const { output } = await bench.call("Bash", { command: "set -x\ntrue" });
    expect(output).toBe("++ true\n");
  });

  it("names no exit code when the shell that knew it was killed", async () => {
    const bench = await Workbench.open();
    const { output, exit, metadata } = await bench.call("Bash", { command: "kill -9 $PPID; echo x; exit 3" });
    expect(output).toBe("x\n[The shell was killed, so there is no exit code]");
    expect(exit).toBeUndefined();
    expect(metadata).toMatchObject({ status: "lost", exit_code: null });
  });

  it("takes here-documents, quotes, many lines and long scripts as they are", async () => {
    const bench = await Workbench.open();
    const here = "cat <<'EOF'\n  $HOME \"quoted\" `not run`\nEOF";
    expect((await bench.call("Bash", { command: here })).output).toBe('  $HOME "quoted" `not run`\n');
    const long = `: ${"x".repeat(300_000)}\necho end`;
    expect((await bench.call("Bash", { command: long })).output).toBe("end\n");
  });

  it("does not break characters that arrive in two pieces", async () => {
    const bench = await Workbench.open();
    const until = (name: string) => `until [ -e '${bench.at(name)}' ]; do sleep 0.02; done`;
    const command = [
      "printf 'caf\\303'",
      until("first"),
      "printf '\\251 \\360\\237'",
      until("second"),
      "printf '\\230\\200'",
    ].join("; ");
    let text = "";
    const { output } = await bench.call(
      "Bash",
      { command },
      {
        output: (_channel, _offset, data) => {
          text += data;
          if (text === "caf") writeFileSync(bench.at("first"), "");
          if (text === "café ") writeFileSync(bench.at("second"), "");
        },
      },
    );
    expect([output, text]).toEqual(["café 😀", "café 😀"]);
  });

  it("hands on output while the command still runs, with byte offsets into its log", async () => {
    const bench = await Workbench.open();
    const stop = new AbortController();
    const seen: [number, string][] = [];
    const arrived = Promise.withResolvers<void>();
    const call = bench.call(
      "Bash",
      { command: "echo é; echo two; sleep 100" },
      {
        signal: stop.signal,
        output: (_channel, offset, data) => {
          seen.push([offset, data]);
          if (
            seen
              .map(([, text]) => text)
              .join("")
              .includes("two")
          )
            arrived.resolve();
        },
      },
    );
    call.catch(() => undefined);
    await arrived.promise;
    expect(seen[0]?.[0]).toBe(0);
    expect(seen.map(([, text]) => text).join("")).toBe("é\ntwo\n");
    stop.abort(new Error("enough"));
    await call.catch(() => undefined);
  });

  it("hands on bytes that are no text at their own offsets", async () => {
    const bench = await Workbench.open();
    const pieces: OutputPiece[] = [];
    const live = new LiveOutput((piece) => pieces.push(piece));
    const command = "head -c 40000 /dev/zero | tr '\\0' '\\377'";
    await bench.call("Bash", { command }, { output: live.write.bind(live) });
    live.close();
    let offset = 0;
    for (const piece of pieces) {
      expect(piece.offset).toBe(offset);
      // Each byte is one replacement character.
      offset += piece.data.length;
    }
    expect(offset).toBe(40_000);
  });

  it("keeps the beginning and the end of long output, and says where the rest is", async () => {
    const bench = await Workbench.open();
    const { output, metadata } = await bench.call("Bash", { command: "seq 1 200000" });
    expect(output.length).toBeLessThan(30_500);
    expect(output.startsWith("1\n2\n3\n")).toBe(true);
    expect(output.endsWith("199999\n200000\n")).toBe(true);
    const left = metadata?.left_out as { from: number; to: number };
    expect(output).toContain(`${left.to - left.from} bytes are left out here`);
    const whole = Array.from({ length: 200_000 }, (_, i) => `${i + 1}\n`).join("");
    let middle = "";
    for (let offset = left.from; offset < left.to; ) {
      const page = await bench.call("BashOutput", { bash_id: metadata?.bash_id, offset });
      middle += page.output.replace(/\n?\[[^\n]*\]$/, "\n").replace(/\n\n$/, "\n");
      offset = page.metadata?.end_offset as number;
    }
    expect(middle.slice(0, 5000)).toBe(whole.slice(left.from, left.from + 5000));
  });

  it.each([30_000, 30_001, 40_000, 71_999, 72_001, 90_001])(
    "of %i bytes is whole but for what it names",
    async (bytes) => {
      const bench = await Workbench.open();
      const { output, metadata } = await bench.call("Bash", { command: `seq 1 50000 | head -c ${bytes}` });
      const whole = Array.from({ length: 50_000 }, (_, i) => `${i + 1}\n`)
        .join("")
        .slice(0, bytes);
      const { from, to } = (metadata?.left_out ?? { from: bytes, to: bytes }) as { from: number; to: number };
      const note = from < to ? /\n\[\d+ bytes are left out here[^\n]*\]\n/ : "";
      expect(output.replace(note, "")).toBe(whole.slice(0, from) + whole.slice(to));
      expect(metadata?.truncated).toBe(bytes > 30_000);
    },
  );

  it("gives the command nothing to read, no secrets of the agent, and no open files", async () => {
    const env = {
      ...process.env,
      MATRX_HOME: "x",
      RELAY_KEYS: "secret-keys",
      CLAIM_SECRET: "secret-claim",
      KEPT: "yes",
    };
    const bench = await Workbench.open({ env });
    const { output } = await bench.call("Bash", {
      command: "cat; env; ls -l /proc/self/fd | sed 's/.* //' | grep -v '^/proc/'",
    });
    expect(output).not.toMatch(/secret-|MATRX_HOME/);
    expect(output).toContain("KEPT=yes");
    const open = output.split("\n").filter((line) => /^(?:\/dev|pipe:|socket:)/.test(line));
    expect(open).toEqual(["/dev/null", expect.stringMatching(/^pipe:/), expect.stringMatching(/^pipe:/)]);
  });

  it("gives the command the bytes that came for its stdin, and keeps none of them", async () => {
    const bench = await Workbench.open();
    const bytes = Buffer.concat([Buffer.from([0, 255, 10]), Buffer.alloc(100_000, "x")]);
    const stdin_base64 = bytes.toString("base64");
    const command = "cat > got; wc -c < got; read more || echo end";
    const { output, metadata } = await bench.call("Bash", { command, stdin_base64 });
    expect(output).toBe(`${bytes.length}\nend\n`);
    expect(await readFile(bench.at("got"))).toEqual(bytes);
    expect(readdirSync(join(bench.jobsFolder, String(metadata?.bash_id)))).not.toContain("stdin");
  });

  it("refuses a stdin that is not base64, or too large", async () => {
    const bench = await Workbench.open();
    const accepts = (stdin_base64: string) => bench.accepts("Bash", { command: "cat", stdin_base64 });
    const most = 2 * 1024 * 1024;
    expect([accepts(""), accepts(Buffer.alloc(most).toString("base64"))]).toEqual([true, true]);
    expect([accepts("not base64"), accepts(Buffer.alloc(most + 3).toString("base64"))]).toEqual([
      false,
      false,
    ]);
  });

  it("does not wait for what the command leaves running", async () => {
    const bench = await Workbench.open();
    const { output } = await bench.call("Bash", { command: "sleep 300 & echo started" });
    expect(output).toBe("started\n");
  });

  it("runs with sh where there is no bash", async () => {
    const platform = {
      ...currentPlatform(),
      shell: (env: NodeJS.ProcessEnv) => posixShell(env, () => false),
    };
    const bench = await Workbench.open({ platform });
    const { output, exit } = await bench.call("Bash", { command: "cd /usr; echo $0; exit 4" });
    expect(output).toBe("sh\n[Exit code 4]");
    expect(exit).toBe(4);
    expect(bench.session.cwd).toBe("/usr");
  });

  it("cuts a timeout to the longest that there is, and says so", async () => {
    const bench = await Workbench.open();
    const capped = await bench.call("Bash", { command: "echo done", timeout: 600_001 });
    expect(capped.output).toBe("[timeout was reduced to 600000 ms, the maximum]\ndone\n");
    const { output } = await bench.call("Bash", { command: "echo done", timeout: 600_000 });
    expect(output).toBe("done\n");
  });

  it("refuses a command that no shell can be given", async () => {
    const bench = await Workbench.open();
    expect((await failure(bench.call("Bash", { command: "echo \0" }))).code).toBe("INVALID_PARAMETERS");
    expect(bench.accepts("Bash", { command: "true", shell: "zsh" })).toBe(false);
  });
});

describe("the working directory", () => {
  it("persists over calls of a session, also after a failure, and not into another session", async () => {
    const bench = await Workbench.open();
    await mkdir(bench.at("a folder"));
    const moved = await bench.call("Bash", { command: "cd 'a folder' && exit 3" });
    expect(moved.metadata?.cwd).toBe(bench.at("a folder"));
    expect((await bench.call("Bash", { command: "pwd" })).output).toBe(`${bench.at("a folder")}\n`);
    const other = await bench.call("Bash", { command: "pwd" }, { session: bench.newSession() });
    expect(other.output).toBe(`${bench.home}\n`);
  });

  it("is the true one, though the command has a function named pwd", async () => {
    const bench = await Workbench.open();
    await mkdir(bench.at("b"));
    const { metadata } = await bench.call("Bash", { command: "pwd() { echo fake; }; cd b" });
    expect(metadata?.cwd).toBe(bench.at("b"));
  });

  it("is left, and this is said, when it vanished", async () => {
    const bench = await Workbench.open();
    await mkdir(bench.at("gone"));
    await bench.call("Bash", { command: "cd gone" });
    await rm(bench.at("gone"), { recursive: true });
    const lost = await failure(bench.call("Read", { file_path: "notes.txt" }));
    expect(lost.message).toContain("working directory");
    const { output, metadata } = await bench.call("Bash", { command: "pwd" });
    expect(output).toContain(`[The working directory ${bench.at("gone")} no longer exists`);
    expect(metadata?.cwd).toBe(bench.home);
  });

  it("stays where it is when the command went where no path can name", async () => {
    const bench = await Workbench.open();
    const { metadata } = await bench.call("Bash", { command: "mkdir $'caf\\xe9' && cd $'caf\\xe9'" });
    expect(metadata).toMatchObject({ exit_code: 0, cwd: bench.home });
    expect((await bench.call("Bash", { command: "pwd" })).output).toBe(`${bench.home}\n`);
  });

  it("is moved only by the one of two commands at once that went elsewhere", async () => {
    const bench = await Workbench.open();
    await mkdir(bench.at("b"));
    const slow = bench.call("Bash", { command: "sleep 0.3" });
    await bench.call("Bash", { command: "cd b" });
    await slow;
    expect(bench.session.cwd).toBe(bench.at("b"));
  });
});

describe("stopping a command", () => {
  it("ends the tree when its time is over, and answers with what it had written", async () => {
    const bench = await Workbench.open();
    const command = "echo begun; (sleep 100; echo never) & sleep 100 & sleep 100";
    const error = await failure(bench.call("Bash", { command, timeout: 300 }));
    expect(error.code).toBe("TIMEOUT");
    expect(error.message).toContain("did not end within 300 ms");
    expect(error.message).toContain("30 s are 30000");
    expect(error.message).toContain("is not undone");
    expect(error.message).toContain("begun");
    expect(error.details).toMatchObject({ timed_out: true, status: "timed_out" });
    expect(processesMarked(`BENCH_ROOT=${bench.home.slice(0, -5)}`)).toEqual([]);
  });

  it("ends those that ignore TERM, left their session and lost their parent", async () => {
    const bench = await Workbench.open();
    const stop = new AbortController();
    const ready = Promise.withResolvers<void>();
    let text = "";
    const command = [
      "setsid bash -c 'trap \"\" TERM; echo $$; sleep 100' &",
      "(setsid sleep 101 & echo $!) ; (trap '' TERM; sleep 102) &",
      "echo $!; echo ready; wait",
    ].join("\n");
    const call = bench.call(
      "Bash",
      { command },
      {
        signal: stop.signal,
        output: (_channel, _offset, data) => {
          text += data;
          if (text.includes("ready") && text.trim().split("\n").length >= 4) ready.resolve();
        },
      },
    );
    call.catch(() => undefined);
    await ready.promise;
    const pids = text
      .split("\n")
      .filter((line) => /^\d+$/.test(line))
      .map(Number);
    expect(pids).toHaveLength(3);
    expect(pids.every(isAlive)).toBe(true);
    stop.abort(new Error("cancelled by the test"));
    const error = await failure(call);
    expect(error.code).toBe("CANCELLED");
    expect(pids.filter(isAlive)).toEqual([]);
    expect(processesMarked(`BENCH_ROOT=${bench.home.slice(0, -5)}`)).toEqual([]);
  });

  it("does not begin a call that was cancelled before", async () => {
    const bench = await Workbench.open();
    const gone = AbortSignal.abort(Object.assign(new Error("too late"), { code: "CANCELLED" }));
    const error = await failure(bench.call("Bash", { command: "touch made" }, { signal: gone }));
    expect(error.message).toBe("too late");
    expect(existsSync(bench.at("made"))).toBe(false);
  });
});

describe("many commands", () => {
  it("are limited per grant", async () => {
    const bench = await Workbench.open({ limits: { runningPerGrant: 2 } });
    const start = (grant = bench.owner) =>
      bench.call("Bash", { command: "sleep 100", run_in_background: true }, { grant });
    await start();
    await start();
    expect((await failure(start())).code).toBe("RATE_LIMITED");
    await start({ ...bench.owner, id: makeGrantId() });
  });
});
