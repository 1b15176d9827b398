/** A terminal outlives the agent: with a real holder, real pseudo terminals and real programs. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { messageFrame } from "../../../agent/terminals/frames.ts";
import { HolderLink } from "../../../agent/terminals/holder-link.ts";
import { Terminals } from "../../../agent/terminals/terminals.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { failure, isAlive, processesMarked } from "../tools/workbench.ts";
import { everything, LIMITS, OWNER, script, until } from "./held.ts";

let folder: string;
let terminals: Terminals;

beforeEach(() => {
  folder = join(temporaryFolder(), "t");
  terminals = new Terminals({ folder, limits: LIMITS });
});

/** Nothing stays behind: no terminal, no holder, no socket. */
afterEach(async () => {
  await terminals.stopFor("everyone");
  terminals.disconnect();
  await seen(() => expect(readdirSync(folder).filter((name) => name !== "holder.log")).toEqual([]));
});

async function open(command: string, more = {}): Promise<string> {
  return await terminals.create(script(command, more));
}

/** Passes once the check does; programs and the holder take their time on a busy machine. */
function seen<T>(check: () => Promise<T> | T): Promise<T> {
  return vi.waitFor(check, { timeout: 20_000 });
}

test("a program has a terminal of the wanted size, which nobody else can reach", async () => {
  const id = await open("stty size; tty; read line; echo got $line; exit 3", { cols: 100, rows: 30 });
  const watcher = await terminals.attach({ id, from: 0, write: true }, OWNER);
  expect(await until(watcher, "/dev/pts/")).toContain("30 100");
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, "holder.sock")).mode & 0o777).toBe(0o600);
  await watcher.write(Buffer.from("x\r"));
  const { bytes, events } = await everything(watcher);
  expect(bytes.toString()).toContain("got x");
  expect(events.at(-1)).toEqual({ event: "exit", code: 3, signal: null });
});

test("an agent is killed while a program writes, and the next one has every byte", async () => {
  const command = "for i in {1..20000}; do echo line $i; done; echo the end";
  const agent = spawn(process.execPath, [join(import.meta.dirname, "agent-that-dies.ts"), folder, command]);
  const [line] = await once(agent.stdout, "data");
  const id = String(line).trim();
  agent.kill("SIGKILL");
  await once(agent, "exit");
  const { record } = await terminals.find(id, { ...OWNER, owner: true });
  expect(record).toMatchObject({ session: "s", cwd: "/" });
  // Two come back at once.
  const both = await Promise.all(
    [1, 2].map(async () => everything(await terminals.attach({ id, from: 0, write: false }, OWNER))),
  );
  const wanted = `${Array.from({ length: 20_000 }, (_, i) => `line ${i + 1}\r\n`).join("")}the end\r\n`;
  for (const { bytes } of both) expect(bytes.toString()).toBe(wanted);
  expect(both[0]?.sha256).toBe(both[1]?.sha256);
});

test("a program that ends while a viewer lags has shown all that it wrote", async () => {
  const patient = new Terminals({ folder, limits: { ...LIMITS, viewerDeadMs: 20_000 } });
  const counted = join(temporaryFolder(), "counted");
  writeFileSync(counted, "");
  const line = `String(n++).padStart(62, "0") + "\\n"`;
  const count = `const fs = require("fs"); const to = fs.openSync("${counted}", "a"); for (let n = 0; ; fs.writeSync(to, ".")) fs.writeSync(1, ${line})`;
  const id = await patient.create(script("", { file: process.execPath, args: ["-e", count] }));
  const viewer = await patient.attach({ id, from: 0, write: false }, OWNER);
  const { pid } = await patient.find(id, OWNER);
  let lines = 0;
  // The terminal waits for the viewer, and the program for the terminal.
  await vi.waitUntil(
    () => {
      const before = lines;
      lines = statSync(counted).size;
      return lines > 1000 && lines === before;
    },
    { interval: 200, timeout: 20_000 },
  );
  process.kill(pid, "SIGKILL");
  await seen(async () => expect((await patient.find(id, OWNER)).exit).not.toBeNull());
  const { bytes, events } = await everything(viewer);
  const shown = bytes
    .toString()
    .split("\r\n")
    .filter((text) => text.length === 62);
  expect(shown.length).toBeGreaterThanOrEqual(lines);
  expect(shown.map(Number)).toEqual(shown.map((_, at) => at));
  expect(events).toEqual([{ event: "exit", code: null, signal: 9 }]);
  patient.disconnect();
});

test("one who takes the end of a terminal slowly has all of it, even when it was closed meanwhile", async () => {
  const bytes = 900 * 1024;
  const id = await open(`head -c ${bytes} /dev/zero | tr '\\0' x; read line`);
  await seen(async () => expect((await terminals.find(id, OWNER)).end).toBe(bytes));
  const slow = await terminals.attach({ id, from: 0, write: false }, OWNER);
  expect(await terminals.close(id, OWNER)).toEqual([]);
  let taken = 0;
  for await (const piece of slow.flow()) {
    if (piece.kind === "event") expect(piece.event.event).toBe("exit");
    else taken += piece.bytes.length;
    // In all longer than a connection may take nothing.
    await sleep(LIMITS.viewerDeadMs / 12);
  }
  expect(taken).toBe(bytes);
  slow.close();
});

test("one who takes nothing is dropped, and the others have everything", async () => {
  const bytes = 8 * 1024 * 1024;
  const id = await open(`read go; head -c ${bytes} /dev/zero | tr '\\0' x; echo; echo done`);
  const slow = await terminals.attach({ id, from: 0, write: false, label: "slow" }, OWNER);
  const fast = await terminals.attach({ id, from: 0, write: true }, OWNER);
  expect(fast.attached.viewers).toMatchObject([{ label: "slow", write: false }]);
  await fast.write(Buffer.from("\r"));
  const all = await everything(fast);
  expect(all.bytes.length).toBeGreaterThan(bytes);
  expect(all.events).toContainEqual({ event: "viewers", viewers: [] });
  slow.close();
});

test("of a flood only the last bytes are kept, and its last lines are on the screen", async () => {
  const id = await open(
    "head -c 40000000 /dev/zero | tr '\\0' y | fold; echo; echo the flood is over; read line",
  );
  await seen(async () => {
    expect((await terminals.screen(id, OWNER)).text).toContain("the flood is over");
  });
  const { begin, end } = await terminals.find(id, OWNER);
  expect(end).toBeGreaterThan(40_000_000);
  expect(end - begin).toBe(1024 * 1024);
  expect((await failure(terminals.attach({ id, from: end + 1, write: false }, OWNER))).code).toBe(
    "INVALID_PARAMETERS",
  );
  const late = await terminals.attach({ id, from: 0, write: false }, OWNER);
  expect(late.attached).toMatchObject({ from: begin, lost: begin });
  late.close();
});

test("a screen of any size and in any colours can be come back to, and so can the others", async () => {
  const other = await open("echo other; read line");
  // Asks after every ten lines where the cursor is: the answer comes once they are on the screen.
  const painter = (cols: number, lines: number) =>
    `"${process.execPath}" -e 'const line = "\\x1b[38;2;111;122;133;48;2;144;155;166mx\\x1b[38;2;112;123;134;48;2;145;156;167my".repeat(${cols / 2}) + "\\r\\n"; let n = 0; const next = () => { if (n++ < ${lines / 10}) process.stdout.write(line.repeat(10) + "\\x1b[6n"); else { console.log("painted"); process.exit(); } }; process.stdin.setRawMode(true).on("data", (data) => data.includes("R") && next()); next()'`;
  for (const [cols, rows, lines] of [
    [200, 50, 1100],
    [1000, 1000, 300],
  ] as const) {
    const painted = join(temporaryFolder(), "painted");
    const id = await open(
      `stty cols ${cols} rows ${rows}; ${painter(cols, lines)}; touch ${painted}; read line`,
    );
    await terminals.resize(id, { cols, rows }, OWNER);
    await vi.waitUntil(() => existsSync(painted), { timeout: 40_000 });
    await seen(async () => expect((await terminals.screen(id, OWNER)).text).toContain("painted"));
    const late = await terminals.attach({ id, from: "snapshot", write: false }, OWNER);
    expect(late.attached.snapshot).toContain("painted");
    late.close();
  }
  expect((await terminals.screen(other, OWNER)).text).toBe("other");
}, 90_000);

test("a snapshot has the screen and the last 1,000 lines above it", async () => {
  const [cols, rows] = [200, 50];
  const id = await open("for i in {1..1500}; do echo line $i.; done; read line", { cols, rows });
  await seen(async () => expect((await terminals.screen(id, OWNER)).text).toContain("line 1500."));
  const late = await terminals.attach({ id, from: "snapshot", write: false }, OWNER);
  const lines = late.attached.snapshot?.match(/line \d+\./g) ?? [];
  // The last row has the cursor.
  const above = 1000 + rows - 1;
  expect(lines).toEqual(Array.from({ length: above }, (_, at) => `line ${1500 - above + at + 1}.`));
  late.close();
});

test("how the mouse is reported and keys are sent is part of a snapshot", async () => {
  const id = await open("printf '\\033[?1002;1006h\\033=ready'; read line");
  await seen(async () => expect((await terminals.screen(id, OWNER)).text).toBe("ready"));
  const late = await terminals.attach({ id, from: "snapshot", write: false }, OWNER);
  for (const mode of ["\u001b[?1002h", "\u001b[?1006h", "\u001b="])
    expect(late.attached.snapshot).toContain(mode);
  late.close();
});

test("it is resized and ends while nobody watches, and that is told later", async () => {
  const id = await open("trap 'stty size' WINCH; echo ready; until read -t 0.1 line; do :; done; exit 7");
  await seen(async () => expect((await terminals.screen(id, OWNER)).text).toBe("ready"));
  await terminals.resize(id, { cols: 132, rows: 43 }, OWNER);
  await seen(async () => expect((await terminals.screen(id, OWNER)).text).toContain("43 132"));
  for (const size of [
    { cols: 0, rows: 24 },
    { cols: 1001, rows: 24 },
    { cols: 80.5, rows: 24 },
  ])
    expect((await failure(terminals.resize(id, size, OWNER))).code).toBe("INVALID_PARAMETERS");
  await terminals.write(id, Buffer.from("\r"), OWNER);
  await seen(async () => {
    expect((await terminals.find(id, OWNER)).exit).toMatchObject({ code: 7, signal: null });
  });
  expect((await failure(terminals.write(id, Buffer.from("x"), OWNER))).code).toBe("CONFLICT");
});

test("characters that are cut between pieces are whole at the end, and on a late viewer's screen", async () => {
  const text = "漢字 🎉 héllo";
  const id = await open(
    `printf '\\e[?25l\\e[31m'; printf '${text}' | while IFS= read -r -N1 -d '' c; do printf %s "$c"; done; printf '\\xe6'; sleep 0.05; printf '\\xbc'; sleep 0.05; printf '\\xa2!'; read line`,
  );
  await seen(async () => expect((await terminals.screen(id, OWNER)).text).toBe(`${text}漢!`));
  const late = await terminals.attach({ id, from: "snapshot", write: false }, OWNER);
  expect(late.attached.snapshot).toContain(`${text}漢!`);
  expect(late.attached.snapshot?.endsWith("\u001b[?25l")).toBe(true);
  expect(late.attached.snapshot).toContain("\u001b[31m");
  late.close();
});

test("closing leaves nothing running: no background job, and none that left the session", async () => {
  const id = await open(
    "set -m; sleep 1000 & setsid sleep 1000 & env -i setsid sleep 1000 & echo started; cat",
  );
  await seen(async () => expect((await terminals.screen(id, OWNER)).text).toContain("started"));
  const pids = await seen(() => {
    const found = processesMarked(id);
    expect(found.length).toBeGreaterThanOrEqual(3);
    return found;
  });
  expect(await terminals.close(id, OWNER)).toEqual([]);
  expect(pids.filter(isAlive)).toEqual([]);
  expect((await failure(terminals.find(id, OWNER))).code).toBe("NOT_FOUND");
});

test("a grant sees its own terminals, and ends with them", async () => {
  const ai = { id: makeGrantId(), owner: false };
  const own = await open("cat");
  const other = await open("cat", { grant: ai });
  expect((await terminals.list(ai)).map(({ id }) => id)).toEqual([other]);
  expect((await terminals.list(OWNER)).map(({ id }) => id).toSorted()).toEqual([own, other].toSorted());
  expect((await failure(terminals.write(own, Buffer.from("x"), ai))).code).toBe("NOT_FOUND");
  expect((await failure(terminals.attach({ id: own, from: 0, write: true }, ai))).code).toBe("NOT_FOUND");
  await terminals.endOf((grant) => grant === ai.id);
  expect((await terminals.list(OWNER)).map(({ id }) => id)).toEqual([own]);
});

test("what is typed faster than a program reads waits for it, and none of it is lost", async () => {
  const bytes = 2 * 1024 * 1024;
  const gate = join(folder, "gate");
  const id = await open(
    `stty raw -echo; echo ready; until [ -e ${gate} ]; do sleep 0.05; done; head -c ${bytes} | sha256sum; head -c 1`,
  );
  const writer = await terminals.attach({ id, from: 0, write: true }, OWNER);
  await until(writer, "ready");
  const typed = Buffer.from(Array.from({ length: bytes }, (_, at) => at % 253));
  const typing = (async () => {
    for (let at = 0; at < bytes; at += 64 * 1024) await writer.write(typed.subarray(at, at + 64 * 1024));
  })();
  const busy = await seen(async () => failure(terminals.write(id, Buffer.from("x"), OWNER)));
  expect(busy).toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining("has not read") });
  writeFileSync(gate, "");
  await typing;
  expect(await until(writer, "-")).toContain(createHash("sha256").update(typed).digest("hex"));
  rmSync(gate);
  await writer.write(Buffer.from("x"));
  await everything(writer);
});

test("one who may only watch types nothing", async () => {
  const id = await open("read line; echo got $line");
  const watcher = await terminals.attach({ id, from: 0, write: false, label: "watcher" }, OWNER);
  await watcher.write(Buffer.from("forbidden\r"));
  watcher.say({ type: "resize", cols: 10, rows: 10 });
  const writer = await terminals.attach({ id, from: 0, write: true }, OWNER);
  await writer.write(Buffer.from("allowed\r"));
  const { bytes } = await everything(writer);
  expect(bytes.toString()).toContain("got allowed");
  expect(bytes.toString()).not.toContain("forbidden");
  watcher.close();
});

test("those who look for their terminals at once share an answer that is newer than their question", async () => {
  const asked = vi.spyOn(HolderLink.prototype, "ask");
  const older = terminals.list(OWNER);
  const id = await open("cat");
  const found = await Promise.all(Array.from({ length: 20 }, () => terminals.find(id, OWNER)));
  expect(found.map((one) => one.id)).toEqual(Array.from({ length: 20 }, () => id));
  expect((await older).length).toBeLessThanOrEqual(1);
  expect(asked.mock.calls.filter(([op]) => op === "list").length).toBeLessThanOrEqual(4);
  asked.mockRestore();
});

test("a holder that was killed is said, and the next terminal has a new one", async () => {
  const id = await open("cat");
  await seen(async () => expect((await terminals.find(id, OWNER)).foreground).toBe("cat"));
  const [pid = 0] = processesMarked(id);
  const holder = Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[3]);
  process.kill(holder, "SIGKILL");
  const error = await seen(async () => {
    const found = await failure(terminals.find(id, OWNER));
    expect(found.code).toBe("NOT_FOUND");
    return found;
  });
  expect(error.details).toMatchObject({ reason: "TERMINALS_LOST" });
  const next = await open("echo again; cat");
  await seen(async () => expect((await terminals.screen(next, OWNER)).text).toBe("again"));
});

test("a holder that speaks only another version is refused, and left alone", async () => {
  const other = createServer((socket) => socket.write(messageFrame({ versions: [99], pid: 4711 })));
  mkdirSync(folder);
  other.listen(join(folder, "holder.sock"));
  await once(other, "listening");
  const error = await failure(open("true"));
  expect(error).toMatchObject({ code: "UNAVAILABLE", details: { reason: "HOLDER_VERSION", pid: 4711 } });
  other.close();
  rmSync(join(folder, "holder.sock"), { force: true });
});

test("whoever does not keep to the protocol is cut off, and terminals go on", async () => {
  const id = await open("echo here; cat");
  const greeting = messageFrame({ versions: [1] });
  const attach = messageFrame({ n: 1, op: "attach", id, from: 0, write: true });
  const wrong = [
    Buffer.from("GET / HTTP/1.1\r\n\r\n"),
    Buffer.from([1, 0xff, 0xff, 0xff, 0xff]),
    messageFrame({ versions: "all" }),
    Buffer.concat([greeting, Buffer.from([2, 0, 0, 0, 1, 0x78])]),
    Buffer.concat([greeting, messageFrame({ n: 1, op: "explode" })]),
    Buffer.concat([greeting, messageFrame({ n: 1, op: "resize", id, cols: 0, rows: 1e9 })]),
    Buffer.concat([greeting, Buffer.from([1, 0, 0, 0, 2, 0x7b, 0x7b])]),
    Buffer.concat([greeting, attach, messageFrame({ type: "explode" })]),
  ];
  for (const bytes of wrong) {
    const socket = createConnection(join(folder, "holder.sock"));
    socket.on("data", () => undefined);
    socket.write(bytes);
    await once(socket, "close");
  }
  expect((await terminals.screen(id, OWNER)).text).toBe("here");
});

test("a path too long for a socket is refused before anything is started", async () => {
  const deep = new Terminals({ folder: join(folder, "x".repeat(100)) });
  expect((await failure(deep.create(script("true")))).message).toContain("too long for a socket");
  mkdirSync(folder);
});
