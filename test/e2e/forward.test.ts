/** A port of a machine, reached from another one: real programs over a real relay and agent. */
import { createHash, randomBytes } from "node:crypto";
import { type EventEmitter, once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { endOf, lineOf, runMatrx, startMatrx } from "../agent/cli/matrx.ts";
import { callerArgs, dial, Forwarding, readAll, serve } from "./forwarding.ts";
import { Person } from "./person.ts";
import { type Rig, startRig } from "./rig.ts";

const MiB = 1024 * 1024;
const MINUTE = { timeout: 60_000 };
const content = randomBytes(8 * MiB);

let rig: Rig;
let policyFile: string;

beforeAll(async () => {
  rig = await startRig();
  policyFile = join(rig.dataDir, "agent", "policy.json");
});
afterEach(() => rmSync(policyFile, { force: true }));
afterAll(() => rig?.stop());

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const echo = (socket: Socket) => void socket.pipe(socket);

/** Resolves when it is closed, broken off or not. */
const closing = (one: EventEmitter) => new Promise<void>((resolve) => one.once("close", resolve));

/** Runs `matrx forward --stdio` to its end. */
function stdio(port: number, stdin: string | Uint8Array, token?: string) {
  const { home, args } = callerArgs(rig, token);
  return runMatrx(["forward", rig.device, String(port), "--stdio", ...args], { home, stdin });
}

/** Memory of a process, in bytes. */
function residentOf(pid: number | undefined): number {
  const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) * 1024;
}

test("bytes go both ways, connections are counted, and Ctrl-C ends it cleanly", MINUTE, async () => {
  const { port } = await serve(echo);
  const forwarding = await Forwarding.start(rig, port);
  const socket = await dial(forwarding.port);
  socket.write(content);
  socket.end();
  expect(hashOf(await readAll(socket))).toBe(hashOf(content));
  const { length } = content;
  expect(await forwarding.line(({ state }) => state === "ended")).toEqual({
    ...{ state: "ended", connection: 1, sent: length, received: length },
  });
  const { code, stdout } = await forwarding.stop();
  expect(stdout.trimEnd().split("\n").at(-1)).toBe('{"state":"stopped","connections":1}');
  expect(code).toBe(0);
});

test("a local port that is taken gives way to a free one, unless it was chosen", MINUTE, async () => {
  const { port } = await serve((socket) => socket.end("hello"));
  const { home, args } = callerArgs(rig);
  const child = startMatrx(["forward", rig.device, String(port), "--json", ...args], { home });
  const ended = endOf(child);
  const listening = await lineOf(child, ({ state }) => state === "listening");
  expect(listening).toMatchObject({ host: "127.0.0.1", device: rig.device, device_port: port });
  expect(listening.port).not.toBe(port);
  child.kill("SIGINT");
  expect((await ended).code).toBe(0);
  const chosen = await runMatrx(["forward", rig.device, String(port), "--local", String(port), ...args], {
    home,
  });
  expect(chosen.stderr).toContain(`Can't listen on port ${port} of this machine (EADDRINUSE)`);
  expect(chosen.code).toBe(69);
});

test("each side may end its direction first, and still gets what the other sends", MINUTE, async () => {
  const got = Promise.withResolvers<Buffer>();
  const { port } = await serve((socket) => {
    socket.end("all that I say");
    void readAll(socket).then(got.resolve);
  });
  const forwarding = await Forwarding.start(rig, port);
  const socket = await dial(forwarding.port);
  expect((await readAll(socket)).toString()).toBe("all that I say");
  socket.end(content);
  expect(hashOf(await got.promise)).toBe(hashOf(content));

  const answering = await serve((other) => {
    void readAll(other).then((bytes) => other.end(hashOf(bytes)));
  });
  const { code, stdout } = await stdio(answering.port, content);
  expect(stdout).toBe(hashOf(content));
  expect(code).toBe(0);
});

test("more connections at once than one WebSocket has streams", MINUTE, async () => {
  const { port } = await serve(echo);
  const forwarding = await Forwarding.start(rig, port);
  const sockets = await Promise.all(Array.from({ length: 40 }, () => dial(forwarding.port)));
  for (const [index, socket] of sockets.entries()) socket.write(`hello ${index}`);
  const answers = await Promise.all(sockets.map(async (socket) => String((await once(socket, "data"))[0])));
  expect(answers).toEqual(sockets.map((_, index) => `hello ${index}`));
});

test("a program that does not read takes no more than its window anywhere", MINUTE, async () => {
  const chunk = Buffer.alloc(MiB);
  let sent = 0;
  const flood = await serve((socket) => {
    const more = () => {
      do sent += chunk.length;
      while (socket.write(chunk));
    };
    socket.on("drain", more);
    more();
  });
  const { port } = await serve((socket) => socket.end(Buffer.alloc(64 * MiB)));
  const flooded = await Forwarding.start(rig, flood.port);
  const forwarding = await Forwarding.start(rig, port);
  const before = residentOf(flooded.child.pid);
  const stalled = await dial(flooded.port);
  stalled.pause();
  expect((await flooded.line(({ state }) => state === "open")).connection).toBe(1);
  const other = await dial(forwarding.port);
  other.end();
  expect((await readAll(other)).length).toBe(64 * MiB);
  expect(sent).toBeLessThan(24 * MiB);
  expect(residentOf(flooded.child.pid) - before).toBeLessThan(48 * MiB);
});

test(
  "a port that nobody serves, and one of Matrx itself, are refused before a byte is passed",
  MINUTE,
  async () => {
    const closed = await serve(() => undefined);
    closed.close();
    await closing(closed);
    const nobody = await stdio(closed.port, "");
    expect(nobody.stderr).toContain(`Nobody serves port ${closed.port} on this device`);
    expect(nobody).toMatchObject({ code: 69, stdout: "" });

    const own = await stdio(rig.line.port, "");
    expect(own.stderr).toContain(`Matrx itself listens on port ${rig.line.port}`);
    expect(own.code).toBe(77);

    const forwarding = await Forwarding.start(rig, closed.port);
    const socket = await dial(forwarding.port);
    await closing(socket);
    const { error } = await forwarding.line(({ state }) => state === "failed");
    expect(error).toMatchObject({
      code: "UNAVAILABLE",
      message: `Nobody serves port ${closed.port} on this device`,
    });
  },
);

test(
  "the device's policy says which ports, to the owner too, and a change of it ends what is open",
  MINUTE,
  async () => {
    const { port } = await serve(echo);
    const other = await serve(echo);
    writeFileSync(policyFile, JSON.stringify({ allowed_ports: [`${port}-${port}`] }));
    await expect.poll(async () => (await stdio(other.port, "")).code, { timeout: 10_000 }).toBe(77);
    const forwarding = await Forwarding.start(rig, port);
    const socket = await dial(forwarding.port);
    socket.write("hello");
    await once(socket, "data");
    const closed = closing(socket);
    writeFileSync(policyFile, JSON.stringify({ allowed_ports: [other.port] }));
    await closed;
    const { error } = await forwarding.line(({ state }) => state === "failed");
    expect(error).toMatchObject({ code: "PERMISSION_DENIED", hop: "agent" });
  },
);

test("a token that is not the owner's reaches only ports that both policies list", MINUTE, async () => {
  const { port } = await serve((socket) => socket.end("hello"));
  const person = await Person.signIn(rig);
  const ai = await person.grant({ paths: null, effects: ["read", "execute"], ask: [] });
  const refused = await stdio(port, "", ai.token);
  expect(refused.stderr).toContain("lists no ports for it");
  expect(refused.code).toBe(77);

  await person.setPolicy({ allowed_ports: [port] });
  expect((await stdio(port, "", ai.token)).stderr).toContain("lists no ports for it");
  writeFileSync(policyFile, JSON.stringify({ allowed_ports: ["1024-65535"] }));
  await expect.poll(async () => (await stdio(port, "", ai.token)).stdout, { timeout: 10_000 }).toBe("hello");

  const echoing = await serve(echo);
  await person.setPolicy({ allowed_ports: [port, echoing.port] });
  const forwarding = await Forwarding.start(rig, echoing.port, { token: ai.token });
  const socket = await dial(forwarding.port);
  socket.write("hello");
  await once(socket, "data");
  const closed = closing(socket);
  await person.setPolicy({ allowed_ports: [port] });
  await closed;
  const { error } = await forwarding.line(({ state }) => state === "failed");
  expect(error).toMatchObject({ code: "PERMISSION_DENIED", hop: "relay" });
  await person.setPolicy({});
});

test("a lost link ends what is open, and the next connection works again", MINUTE, async () => {
  const { port } = await serve(echo);
  const relay = `http://localhost:${rig.line.port}`;
  const forwarding = await Forwarding.start(rig, port, { relay });
  const first = await dial(forwarding.port);
  first.write("hello");
  await once(first, "data");
  const closed = closing(first);
  rig.line.cut();
  await closed;
  expect((await forwarding.line(({ state }) => state === "failed")).error).toMatchObject({
    code: "UNAVAILABLE",
  });
  await expect.poll(() => rig.isOnline(), { timeout: 20_000 }).toBe(true);
  const answers = async () => {
    const again = await dial(forwarding.port);
    again.end("again");
    return await readAll(again).then(String, () => "broken off");
  };
  await expect.poll(answers, { timeout: 20_000 }).toBe("again");
});
