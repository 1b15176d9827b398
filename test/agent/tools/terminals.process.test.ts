/** Terminals through the tools: with a real holder and real shells. The link of the stream is elsewhere; its end here is in memory. */
import { hash } from "node:crypto";
import { makeGrantId } from "@matrx/shared/ids.ts";
import type { Incoming } from "@matrx/shared/streams/endpoint.ts";
import { expect, test, vi } from "vitest";
import type { ToolResult } from "../../../agent/core/tool.ts";
import { MemoryStream } from "../transfers/memory-stream.ts";
import { failure, isAlive, processesMarked, Workbench } from "./workbench.ts";

const OPEN = { opensStream: true };
const bash = { shell: "/bin/bash" };

/** A caller at the other end of a stream, who types when it wants. */
class Person {
  readonly stream: MemoryStream;
  readonly ended: Promise<Readonly<Record<string, unknown>> | undefined>;
  readonly #sent: Incoming[] = [];
  #more = Promise.withResolvers<void>();
  #isSilent = false;

  constructor({ stream: serve }: ToolResult) {
    if (!serve) throw new Error("the result has no stream");
    this.stream = new MemoryStream({ sends: this.#sends() });
    this.ended = serve(this.stream);
    this.ended.catch(() => undefined);
  }

  get text(): string {
    return this.stream.content.toString();
  }

  type(text: string): void {
    this.#send({ kind: "data", bytes: Buffer.from(text) });
  }

  say(message: Record<string, unknown>): void {
    this.#send({ kind: "message", message });
  }

  /** Has nothing more to type. */
  finish(): void {
    this.#isSilent = true;
    this.#more.resolve();
  }

  async sees(text: string): Promise<void> {
    await vi.waitFor(() => expect(this.text).toContain(text), 10_000);
  }

  async *#sends(): AsyncGenerator<Incoming> {
    for (;;) {
      const next = this.#sent.shift();
      if (next) yield next;
      else if (this.#isSilent) return;
      else {
        await this.#more.promise;
        this.#more = Promise.withResolvers();
      }
    }
  }

  #send(sent: Incoming): void {
    this.#sent.push(sent);
    this.#more.resolve();
  }
}

async function create(bench: Workbench, input: object = bash, options = {}): Promise<string> {
  const { metadata } = await bench.call("TerminalCreate", { ...input }, options);
  return String(metadata?.terminal);
}

async function attach(bench: Workbench, terminal: string, more: object = {}): Promise<Person> {
  return new Person(await bench.call("TerminalAttach", { terminal, ...more }, OPEN));
}

test("a shell is opened in the session's folder, typed into, resized, signalled and ended", async () => {
  const bench = await Workbench.open();
  const terminal = await create(bench, { ...bash, name: "work", cols: 100, rows: 30 });
  const person = await attach(bench, terminal, { from_sequence: 0, write: true });
  person.type("pwd; stty size\r");
  await person.sees(`${bench.home}\r\n30 100\r\n`);
  expect(person.stream.messages).toEqual([
    { type: "attached", sequence: 0, cols: 100, rows: 30, write: true, snapshot: false, snapshot_bytes: 0 },
    { type: "viewers", viewers: [{ label: "owner", write: true, since: expect.any(String) }] },
  ]);
  person.say({ type: "resize", cols: 132, rows: 43 });
  await vi.waitFor(() =>
    expect(person.stream.messages).toContainEqual({ type: "resized", cols: 132, rows: 43 }),
  );
  person.type("stty size; sleep 1000\r");
  await person.sees("43 132\r\n");
  await vi.waitFor(async () => {
    const { metadata } = await bench.call("TerminalList", {});
    expect(metadata?.terminals).toMatchObject([
      { terminal, name: "work", shell: "/bin/bash", foreground: "sleep 1000", running: true, cols: 132 },
    ]);
  });
  person.say({ type: "signal", name: "SIGINT" });
  await vi.waitFor(async () => {
    const { metadata } = await bench.call("TerminalList", {});
    expect(metadata?.terminals).not.toMatchObject([{ foreground: "sleep 1000" }]);
  });
  person.type("exit 3\r");
  person.finish();
  expect(await person.ended).toEqual({ exit_code: 3 });
});

test("one who comes later gets the screen as a snapshot, and then every byte", async () => {
  const bench = await Workbench.open();
  const terminal = await create(bench);
  const first = await attach(bench, terminal, { from_sequence: 0, write: true });
  first.type("echo fi''rst\r");
  await first.sees("first\r\n");
  const late = await attach(bench, terminal);
  await late.sees("first");
  const [attached] = late.stream.messages;
  expect(attached).toMatchObject({ type: "attached", write: false, snapshot: true });
  const before = Number(attached?.sequence);
  first.type("for i in {1..2000}; do echo line $i; done; exit\r");
  await Promise.all([first.ended, late.ended]);
  const after = late.stream.content.subarray(Number(attached?.snapshot_bytes));
  expect(hash("sha256", after)).toBe(hash("sha256", first.stream.content.subarray(before)));
});

test("those who watch a terminal are told of each other", async () => {
  const bench = await Workbench.open();
  const terminal = await create(bench);
  const first = await attach(bench, terminal, { write: true });
  const told = (person: Person) => person.stream.messages.filter(({ type }) => type === "viewers").at(-1);
  const [typing, watching] = [true, false].map((write) => expect.objectContaining({ label: "owner", write }));
  await vi.waitFor(() => expect(told(first)).toMatchObject({ viewers: [typing] }));
  const late = await attach(bench, terminal);
  await vi.waitFor(() => {
    for (const person of [first, late]) expect(told(person)).toMatchObject({ viewers: [typing, watching] });
  });
  late.stream.reset();
  await vi.waitFor(() => expect(told(first)).toMatchObject({ viewers: [typing] }));
});

test("the agent restarts, and the next one has the same terminal with all its output", async () => {
  const bench = await Workbench.open();
  const terminal = await create(bench);
  const before = await attach(bench, terminal, { from_sequence: 0, write: true });
  before.type("echo be''fore\r");
  await before.sees("before\r\n");
  before.stream.reset();
  await failure(before.ended);
  await bench.restart();
  const after = await attach(bench, terminal, { from_sequence: 0, write: true });
  after.type("exit\r");
  expect(await after.ended).toEqual({ exit_code: 0 });
  const seen = before.stream.content;
  expect(hash("sha256", after.stream.content.subarray(0, seen.length))).toBe(hash("sha256", seen));
});

test("of two who watch, the one who may only watch neither types, resizes nor signals", async () => {
  const bench = await Workbench.open();
  const terminal = await create(bench);
  const writer = await attach(bench, terminal, { from_sequence: 0, write: true });
  const acts: ((watcher: Person) => void)[] = [
    (watcher) => watcher.type("echo forbidden\r"),
    (watcher) => watcher.say({ type: "resize", cols: 10, rows: 10 }),
    (watcher) => watcher.say({ type: "signal", name: "SIGKILL" }),
  ];
  for (const act of acts) {
    const watcher = await attach(bench, terminal);
    act(watcher);
    expect(await failure(watcher.ended)).toMatchObject({
      code: "PERMISSION_DENIED",
      details: { reason: "READ_ONLY" },
    });
  }
  const watcher = await attach(bench, terminal);
  watcher.finish();
  writer.type("stty size; exit\r");
  expect(await writer.ended).toEqual({ exit_code: 0 });
  expect(await watcher.ended).toEqual({ exit_code: 0 });
  expect(writer.text).toContain("24 80");
  expect(writer.text).not.toContain("forbidden");
});

test.each([
  { type: "resize", cols: 10_000, rows: 10_000 },
  { type: "resize", cols: 0, rows: 24 },
  { type: "signal", name: "SIGSEGV" },
  { type: "explode" },
  {},
])("what a terminal does not take ends the stream, and the terminal stays: %j", async (message) => {
  const bench = await Workbench.open();
  const terminal = await create(bench);
  const person = await attach(bench, terminal, { write: true });
  person.say(message);
  expect((await failure(person.ended)).code).toBe("INVALID_PARAMETERS");
  const { metadata } = await bench.call("TerminalList", {});
  expect(metadata?.terminals).toMatchObject([{ terminal, running: true, cols: 80, rows: 24 }]);
});

test("a terminal of 10,000 by 10,000, of no program or of no folder is refused", async () => {
  const bench = await Workbench.open();
  expect(bench.accepts("TerminalCreate", { cols: 1000, rows: 1000 })).toBe(true);
  for (const size of [{ cols: 10_000, rows: 10_000 }, { cols: 0 }, { rows: 1.5 }])
    expect(bench.accepts("TerminalCreate", size)).toBe(false);
  await bench.put("no-program", "echo hello");
  for (const input of [{ shell: "no-such-shell" }, { shell: bench.at("no-program") }, { cwd: "none/such" }])
    expect((await failure(create(bench, { ...bash, ...input }))).code).toBe("INVALID_PARAMETERS");
  expect((await bench.call("TerminalList", {})).metadata?.terminals).toEqual([]);
});

test("closing ends what runs in the background too, and then it is gone", async () => {
  const bench = await Workbench.open();
  const terminal = await create(bench);
  const person = await attach(bench, terminal, { write: true });
  person.type("sleep 1000 & setsid sleep 1000 & echo star''ted\r");
  await person.sees("started");
  const pids = processesMarked(terminal);
  expect(pids.length).toBeGreaterThanOrEqual(3);
  expect((await bench.call("TerminalClose", { terminal })).metadata).toEqual({ terminal, processes_left: 0 });
  expect(pids.filter(isAlive)).toEqual([]);
  expect(await person.ended).toEqual({ signal: "SIGHUP" });
  for (const tool of ["TerminalAttach", "TerminalClose"])
    expect((await failure(bench.call(tool, { terminal }, OPEN))).code).toBe("NOT_FOUND");
});

test("another grant sees nothing of a terminal, and the owner sees all", async () => {
  const bench = await Workbench.open();
  const script = { ...bench.owner, id: makeGrantId(), owner: false };
  const own = await create(bench);
  const as = { grant: script, ...OPEN };
  expect((await bench.call("TerminalList", {}, as)).metadata?.terminals).toEqual([]);
  expect((await failure(bench.call("TerminalClose", { terminal: own }, as))).code).toBe("NOT_FOUND");
  const { metadata } = await bench.call("TerminalList", {});
  expect(metadata?.terminals).toMatchObject([{ terminal: own, grant: bench.owner.id, own: true }]);
});

test("a terminal's name fakes no entry of the list", async () => {
  const bench = await Workbench.open();
  await create(bench, { ...bash, name: "work\nterm_0000000000\u2028work" });
  const { output } = await bench.call("TerminalList", {});
  expect(output.split(/[\n\u2028]/)).toHaveLength(2);
});

test("without a stream nothing is attached", async () => {
  const bench = await Workbench.open();
  const terminal = await create(bench);
  expect(await failure(bench.call("TerminalAttach", { terminal }))).toMatchObject({
    code: "INVALID_PARAMETERS",
    details: { reason: "needs_stream" },
  });
});

test("the holder's folder and socket are closed to all tools", async () => {
  const bench = await Workbench.open();
  await create(bench);
  const folder = `${bench.state}/terminals`;
  for (const [tool, input] of [
    ["Read", { file_path: `${folder}/holder.log` }],
    ["ListDirectory", { path: folder }],
    ["Delete", { path: `${folder}/holder.sock` }],
  ] as const)
    expect((await failure(bench.call(tool, input))).code).toBe("PERMISSION_DENIED");
});
