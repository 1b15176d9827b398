/** The same stories over each way that the client has to a device: a real relay, a real agent, a real local server. */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { connectByHttp, connectDevice, type DeviceAt } from "../../client/connect.ts";
import { type ApprovalEvent, Device } from "../../client/device.ts";
import { ObjectTransport } from "../../client/object/transport.ts";
import type { CallEvent } from "../../client/transport.ts";
import type { MatrxError } from "../../shared/errors.ts";
import type { SessionId } from "../../shared/ids.ts";
import { LIMITS } from "../../shared/limits.ts";
import { startAgent } from "../e2e/agent.ts";
import { Person } from "../e2e/person.ts";
import { type Rig, startRig } from "../e2e/rig.ts";
import { upAndServe } from "../e2e/up-and-serve.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { type LocalServer, startLocalServer } from "./local-server.ts";
import { callsOverHttp } from "./port-over-http.ts";

let rig: Rig;
let person: Person;
let server: LocalServer;
let folders: { readonly home: string; readonly temporary: string };
/** The client's open connections, which a test can break. */
const sockets = new Set<BreakableSocket>();
let requests = new AbortController();

class BreakableSocket extends WebSocket {
  /** Bytes of streams. */
  received = 0;

  constructor(url: string | URL, protocols?: string | string[]) {
    super(url, protocols);
    sockets.add(this);
    this.addEventListener("close", () => sockets.delete(this));
    this.addEventListener("message", ({ data }) => {
      if (typeof data !== "string") this.received += data.byteLength;
    });
  }
}

function breakableFetch(url: string, init: RequestInit): Promise<Response> {
  const signals = [requests.signal, ...(init.signal ? [init.signal] : [])];
  return fetch(url, { ...init, signal: AbortSignal.any(signals) });
}

function breakConnections(): void {
  for (const socket of sockets) socket.close();
  requests.abort(new Error("The connection was reset"));
  requests = new AbortController();
}

beforeAll(async () => {
  rig = await startRig();
  person = await Person.signIn(rig);
  folders = { home: makeFolder(), temporary: makeFolder() };
  server = await startLocalServer(folders);
});
afterAll(async () => {
  await server?.child.stop(5000);
  for (const folder of Object.values(folders ?? {})) removeFolder(folder);
  await rig?.stop();
});

/** A machine on which something can happen, while a test runs. */
async function reportingMachine(place: Way["place"]): Promise<(event_type: string) => Promise<void>> {
  const { url, token } = place === "local" ? server : await agentThatServes();
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  return async (event_type) => {
    const body = JSON.stringify({ event_type });
    expect((await fetch(`${url}/trigger`, { method: "POST", headers, body })).status).toBe(200);
  };
}

/** The rig's own, in another process for this test. */
async function agentThatServes() {
  await rig.agent.child.stop(5000);
  const agent = await upAndServe(join(rig.dataDir, "agent"));
  onTestFinished(async () => {
    await agent.stop();
    rig.agent = await startAgent(rig.dataDir);
    await rig.agent.registered();
  });
  return agent;
}

function connectInRelay({ device = "", token, session, onApproval, url }: DeviceAt): Device {
  const calls = callsOverHttp({ ...{ url, device, fetch: breakableFetch }, token: String(token) });
  return new Device(new ObjectTransport(() => calls, session as SessionId | undefined), { onApproval });
}

interface Way {
  readonly name: string;
  readonly place: "relay" | "local";
  /** Streams of bytes, and the device's events. */
  readonly hasStreams: boolean;
  readonly hasEvents: boolean;
  /** Whether the outcome of a call is known by the call's name. */
  readonly hasRecords: boolean;
  readonly connect: typeof connectDevice;
}

const WAYS: readonly Way[] = [
  {
    name: "relay, WebSocket",
    place: "relay",
    hasStreams: true,
    hasEvents: true,
    hasRecords: true,
    connect: connectDevice,
  },
  {
    name: "relay, HTTP",
    place: "relay",
    hasStreams: false,
    hasEvents: false,
    hasRecords: true,
    connect: connectByHttp,
  },
  {
    name: "local server, WebSocket",
    place: "local",
    hasStreams: false,
    hasEvents: true,
    hasRecords: false,
    connect: connectDevice,
  },
  {
    name: "local server, HTTP",
    place: "local",
    hasStreams: false,
    hasEvents: false,
    hasRecords: false,
    connect: connectByHttp,
  },
  {
    name: "relay, in its own code",
    place: "relay",
    hasStreams: false,
    hasEvents: false,
    hasRecords: true,
    connect: connectInRelay,
  },
];

describe.each(WAYS)("$name", (way) => {
  const { place, connect, hasStreams, hasEvents, hasRecords } = way;
  const at = () => ({
    url: place === "relay" ? rig.relay.url : server.url,
    ...{ WebSocket: BreakableSocket, fetch: breakableFetch },
    ...(place === "relay" ? { device: rig.device, token: rig.token } : { token: server.token }),
  });
  const device = (onApproval?: (event: ApprovalEvent) => void): Device => {
    const made = connect({ ...at(), ...(onApproval && { onApproval }) });
    onTestFinished(() => made.close());
    return made;
  };
  const fileIn = (name: string) => join(rig.folder, `${place}-${connect.name}-${name}`);

  it("a call is answered, and an error is thrown with its code", async () => {
    const caller = device();
    const file = fileIn("plain");
    writeFileSync(file, "hello\n");
    expect((await caller.call("Read", { file_path: file })).output).toContain("hello");
    await expect(caller.call("Read", { file_path: `${file}-not` })).rejects.toMatchObject({
      ...{ code: "NOT_FOUND", name: "MatrxError" },
    });
    const end = await caller.call("Bash", { command: "exit 3" });
    expect(end.metadata).toMatchObject({ exit_code: 3 });
  });

  it("an error is the same one over each, thrown by call and an answer of make", async () => {
    const caller = device();
    const path = "/no-such-folder/file";
    const facts = { code: "NOT_FOUND", hint: "Only / exists; look there with ListDirectory", hop: "tool" };
    const error = await caller
      .call("Read", { file_path: path })
      .catch((thrown: MatrxError) => thrown.shape());
    expect(error).toEqual({ ...facts, message: `${path} does not exist`, details: { path } });
    const end = await caller.make("Read", { file_path: path });
    const answer = { ...facts, type: "error", output: `${path} does not exist`, metadata: { path } };
    expect(end).toMatchObject({ kind: "answer", answer });
    const refused = await caller.make("Raed", { file_path: path });
    expect(refused).toMatchObject({ kind: "answer", answer: { type: "error", code: "TOOL_NOT_FOUND" } });
  });

  it("a call that is too large is refused, and the next one is answered", async () => {
    const caller = device();
    const large = caller.call("Bash", { command: `: ${"x".repeat(LIMITS.callFrameBytes)}` });
    await expect(large).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
    expect(await caller.call("SystemInfo")).toMatchObject({ type: "success" });
  });

  it("a device that is closed leaves its call, and says so at once", async () => {
    const caller = device();
    const file = fileIn("closed");
    const call = caller.call("Bash", { command: `echo x > ${file}; sleep 1; echo y > ${file}` });
    call.catch(() => undefined);
    await expect.poll(() => existsSync(file)).toBe(true);
    caller.close();
    await expect(call).rejects.toMatchObject({ code: "CANCELLED", hop: "caller" });
    await expect.poll(() => readFileSync(file, "utf8")).toBe("y\n");
  });

  it.skipIf(connect === connectInRelay)("what is not there is named", async () => {
    const nowhere = connect({ ...at(), url: "http://localhost:1/" });
    onTestFinished(() => nowhere.close());
    const host = place === "relay" ? "the relay" : "the local server";
    await expect(nowhere.call("SystemInfo")).rejects.toThrow(`Can't reach ${host}`);
  });

  it("live output comes before the answer", async () => {
    const events: CallEvent[] = [];
    const caller = device();
    await caller.call(
      "Bash",
      { command: "echo one; sleep 0.3; echo two" },
      { onEvent: (event) => events.push(event) },
    );
    const output = events.map((event) => (event.type === "output" ? event.data : "")).join("");
    expect(output).toBe("one\ntwo\n");
  });

  it("a stop ends the command on the device", async () => {
    const stop = new AbortController();
    const caller = device();
    const call = caller.call(
      "Bash",
      { command: "echo here; sleep 60" },
      { signal: stop.signal, onEvent: ({ type }) => type === "output" && stop.abort() },
    );
    await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
  });

  it("a connection that breaks in the middle of a read does not end it", async () => {
    const caller = device();
    const told: string[] = [];
    const answer = await caller.call(
      "Bash",
      { command: "echo begun; sleep 0.5; echo read", read_only: true },
      {
        onEvent: ({ type }) => {
          told.push(type);
          if (type === "output" && !told.includes("gap")) breakConnections();
        },
      },
    );
    expect(answer.output).toContain("read");
    expect(told).toContain("gap");
  });

  it("in the middle of an effect, it runs once, and its outcome is told", async () => {
    const caller = device();
    const file = fileIn("effect");
    const answer = caller.call("Bash", { command: `echo x >> ${file}; sleep 1; echo done` });
    await expect.poll(() => existsSync(file)).toBe(true);
    breakConnections();
    expect((await answer).output).toContain("done");
    expect(readFileSync(file, "utf8")).toBe("x\n");
  });

  it("without a key, the relay's record has the outcome; without a record, it is unknown", async () => {
    const caller = device();
    const file = fileIn("keyless");
    const answer = caller.call(
      "Bash",
      { command: `echo x >> ${file}; sleep 1; echo done` },
      { idempotencyKey: null },
    );
    answer.catch(() => undefined);
    await expect.poll(() => existsSync(file)).toBe(true);
    breakConnections();
    if (hasRecords) expect((await answer).output).toContain("done");
    else await expect(answer).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN", hop: "caller" });
    expect(readFileSync(file, "utf8")).toBe("x\n");
  });

  it("a session keeps its working directory", async () => {
    const caller = device();
    await caller.call("Bash", { command: `cd ${rig.folder}` });
    expect((await caller.call("Bash", { command: "pwd" })).output.trim()).toBe(rig.folder);
    expect(caller.session).toMatch(/^[\da-f]{16}$/);
    const next = connect({ ...at(), session: caller.session });
    onTestFinished(() => next.close());
    expect((await next.call("Bash", { command: "pwd" })).output.trim()).toBe(rig.folder);
  });

  it.runIf(place === "relay")("a question is asked, and allowed or denied", async () => {
    await person.setPolicy({ ask: [{ tools: ["Write"] }] });
    onTestFinished(() => person.setPolicy({}));
    const states: string[] = [];
    const caller = device(({ state }) => states.push(state));
    const file = fileIn("asked");
    const allowed = caller.call("Write", { file_path: file, content: "yes" });
    await person.answer(allowed, { decision: "allow" });
    expect([readFileSync(file, "utf8"), ...states]).toEqual(["yes", "pending", "allowed"]);
    const denied = caller.call("Write", { file_path: file, content: "no" });
    denied.catch(() => undefined);
    const refused = person.answer(denied, { decision: "deny", note: "not this one" });
    await expect(refused).rejects.toMatchObject({ code: "APPROVAL_DENIED" });
    expect(readFileSync(file, "utf8")).toBe("yes");
  });

  it.runIf(place === "relay")(
    "a caller leaves while a person is asked, and comes back by the call's name",
    async () => {
      await person.setPolicy({ ask: [{ tools: ["Write"] }] });
      onTestFinished(() => person.setPolicy({}));
      const leave = new AbortController();
      const caller = device(() => leave.abort());
      const file = fileIn("left");
      const end = await caller.make("Write", { file_path: file, content: "later" }, { leave: leave.signal });
      if (end.kind !== "left" || end.call === undefined) throw new Error("It was not left");
      const followed = caller.follow(end.call);
      await person.answer(followed, { decision: "allow" });
      expect(readFileSync(file, "utf8")).toBe("later");
    },
  );

  it.runIf(place === "relay")("a rate that is exceeded is waited for", async () => {
    await person.setPolicy({ rates: { messages_per_second: 2 } });
    onTestFinished(() => person.setPolicy({}));
    const caller = device();
    const calls = Array.from({ length: 6 }, () => caller.call("SystemInfo"));
    expect((await Promise.all(calls)).map(({ type }) => type)).toEqual(Array(6).fill("success"));
  });

  it("a file comes whole as a stream, or that is refused clearly", async () => {
    const caller = device();
    const file = fileIn("stream");
    writeFileSync(file, Buffer.alloc(1024 * 1024, "matrx"));
    const opened = caller.open("Download", { path: file }, { credit: 64 * 1024 });
    if (!hasStreams)
      return await expect(opened).rejects.toMatchObject({ hop: expect.stringMatching(/caller|agent/) });
    const { stream } = await opened;
    const pieces: Buffer[] = [];
    for await (const piece of stream.incoming())
      if (piece.kind === "data") pieces.push(Buffer.from(piece.bytes));
    expect(Buffer.concat(pieces).equals(readFileSync(file))).toBe(true);
    expect(statSync(file).size).toBe(1024 * 1024);
  });

  it.runIf(hasStreams)("a reader that waits holds the device back", async () => {
    const caller = device();
    const file = fileIn("held");
    const content = Buffer.alloc(4 * 1024 * 1024, "matrx");
    writeFileSync(file, content);
    const credit = 256 * 1024;
    const { stream } = await caller.open("Download", { path: file }, { credit });
    const received = () => [...sockets].reduce((sum, socket) => sum + socket.received, 0);
    await expect.poll(received).toBeGreaterThan(credit / 2);
    // What the device had sent by then has come before this answer.
    await caller.call("SystemInfo");
    expect(received()).toBeLessThanOrEqual(credit);
    let bytes = 0;
    for await (const piece of stream.incoming()) if (piece.kind === "data") bytes += piece.bytes.length;
    expect(bytes).toBe(content.length);
  });

  it("the device's events come as they happen, and after a break from where they were; or that is refused", async () => {
    const caller = device();
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const seen: string[] = [];
    const count = { connects: 0, breaks: 0 };
    const watching = caller.watch({
      signal: stop.signal,
      onEvent: ({ event_type }) => event_type.startsWith("told_") && seen.push(event_type),
      onConnect: () => count.connects++,
      onBreak: () => count.breaks++,
    });
    if (!hasEvents) return await expect(watching).rejects.toMatchObject({ code: "INVALID_PARAMETERS" });
    const report = await reportingMachine(place);
    await expect.poll(() => count.connects).toBe(1);
    await report("told_first");
    await expect.poll(() => seen).toEqual(["told_first"]);
    breakConnections();
    await expect.poll(() => count.breaks).toBe(1);
    await report("told_meanwhile");
    await expect.poll(() => seen).toEqual(["told_first", "told_meanwhile"]);
    await report("told_last");
    await expect.poll(() => seen).toEqual(["told_first", "told_meanwhile", "told_last"]);
    expect(count).toEqual({ connects: 2, breaks: 1 });
    stop.abort();
    await watching;
  });
});
