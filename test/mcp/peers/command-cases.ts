/** What people ask of commands, and of a server that is used wrongly. */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { processTable } from "../../../scripts/start/process-table.ts";
import type { Case } from "./case.ts";
import { check, checkHas, checkSame, SECRET } from "./place.ts";

const ANSWER_MAX = 1024 * 1024;
/** How long something may take to show, in milliseconds. */
const SHOWS_WITHIN = 10_000;
const MOST_LOOKS = 20;

export const COMMAND_CASES: readonly Case[] = [
  {
    name: "runs a command, and tells both outputs and the exit code",
    run: async (peer) => {
      const { text } = await peer.ask("run", { command: "echo to-out; echo to-err >&2; exit 37" });
      checkHas(text, "to-out", "to-err", "37");
    },
  },
  {
    name: "runs a command in its folder",
    run: async (peer, place) => {
      await peer.ask("run", { command: `cd '${place.folder}' && echo made > by-command.txt` });
      checkSame(place.text("by-command.txt"), "made\n");
    },
  },
  {
    name: "keeps the answer small for 50 MB of output",
    run: async (peer) => {
      const { text } = await peer.ask("run", { command: "yes abcdefghi | head -c 50000000" });
      check(text.length < ANSWER_MAX, `${text.length} characters`);
      checkHas(text, "abcdefghi");
    },
  },
  {
    name: "gives a command no input to wait for",
    run: async (peer) => {
      const { text } = await peer.ask("run", { command: "cat; echo read-to-the-end" });
      checkHas(text, "read-to-the-end");
    },
  },
  {
    name: "tells what a command prints while it runs",
    run: async (peer) => {
      const heard: string[] = [];
      const onprogress = ({ message = "" }) => void heard.push(message);
      await peer.ask("run", { command: "echo half-way; sleep 1; echo done" }, { onprogress });
      checkHas(heard.join("\n"), "half-way");
    },
  },
  {
    name: "ends the process of a call that is cancelled",
    run: async (peer) => {
      const program = new MarkedProgram();
      peer.toolOf("run");
      const stop = new AbortController();
      const call = peer
        .ask("run", { command: program.command }, { signal: stop.signal })
        .catch(() => undefined);
      await shows(() => program.runs, "the command did not begin");
      stop.abort();
      await call;
      await program.mustEnd();
    },
  },
  {
    name: "lets a command go on, shows what it prints, and that it ended",
    run: async (peer, place) => {
      const go = place.path("go");
      const wait = `while [ ! -e '${go}' ]; do sleep 0.1; done`;
      const id = await peer.start(`echo first; ${wait}; echo sec''ond`);
      place.put("go", "");
      let text = "";
      for (let look = 0; look < MOST_LOOKS && !text.includes("second"); look++)
        text += (await peer.ask("follow", { id })).text;
      checkHas(text, "second");
    },
  },
  {
    name: "ends a command that goes on, with what it has started",
    run: async (peer) => {
      const program = new MarkedProgram();
      const id = await peer.start(`${program.command} & wait`);
      await shows(() => program.runs, "the command did not begin");
      await peer.ask("end", { id });
      await program.mustEnd();
    },
  },
  {
    name: "lets a command read nothing outside of its folder",
    run: async (peer, place) => {
      const { text } = await peer.ask("run", { command: `cat '${place.secret}'` });
      check(!text.includes(SECRET), "read");
    },
  },
];

export const MISUSE_CASES: readonly Case[] = [
  {
    name: "names the argument that is missing, and goes on",
    run: async (peer, place) => {
      const { failed, text } = await peer.use({ tool: peer.toolOf("write"), input: { content: "x" } });
      check(failed, "no error");
      checkHas(text, "path");
      check(!(await peer.ask("list", { path: place.folder })).failed, "the server is gone");
    },
  },
  {
    name: "refuses an argument of the wrong type",
    run: async (peer, place) => {
      const path = place.path("wrong.txt");
      const input = { path, file_path: path, content: { not: "a text" } };
      check((await peer.use({ tool: peer.toolOf("write"), input })).failed, "no error");
      check(!existsSync(path), "written");
    },
  },
  {
    name: "says that there is no such tool",
    run: async (peer) => {
      check((await peer.use({ tool: "no_such_tool", input: {} })).failed, "no error");
    },
  },
  {
    name: "answers twenty calls at once, each with its own",
    run: async (peer, place) => {
      const names = Array.from({ length: 20 }, (_, i) => `many/${i}.txt`);
      const reads = names.map((name, i) => peer.ask("read", { path: place.put(name, `content-${i}-`) }));
      for (const [i, { text }] of (await Promise.all(reads)).entries()) checkHas(text, `content-${i}-`);
    },
  },
];

/** Others' programs tell nothing of what they do outside of their answers, so the machine is looked at. */
async function shows(isSo: () => boolean, wrong: string): Promise<void> {
  for (const until = Date.now() + SHOWS_WITHIN; Date.now() < until; await sleep(50)) if (isSo()) return;
  throw new Error(wrong);
}

/** A program that only waits. Known by its arguments: in a sandbox a process has another number. */
class MarkedProgram {
  readonly command = `sleep ${300 + Math.floor(Math.random() * 1e9) / 1e9}`;

  get runs(): boolean {
    return this.#processes().length > 0;
  }

  /** Rejects if it runs on; then it is ended here. */
  async mustEnd(): Promise<void> {
    await shows(() => !this.runs, "it runs on").finally(() => {
      for (const { pid } of this.#processes()) process.kill(pid, "SIGKILL");
    });
  }

  #processes() {
    return processTable.all().filter(({ command }) => command === this.command);
  }
}
