/** Files stored over HTTP through a real relay and a real agent, as people and programs do. */
import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { startAgent } from "./agent.ts";
import { type Rig, startRig } from "./rig.ts";

const MiB = 1024 * 1024;
const MINUTE = 60_000;
const content = randomBytes(20 * MiB);

let rig: Rig;
let folder: string;

beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());
beforeEach(() => {
  folder = makeFolder();
  return () => removeFolder(folder);
});

const sha256Of = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const digestOf = (bytes: Uint8Array) => `sha-256=:${createHash("sha256").update(bytes).digest("base64")}:`;

function pathOf(name: string): string {
  return join(folder, name).split("/").map(encodeURIComponent).join("/").replace(/^\//, "");
}

function put(name: string, body: string | Uint8Array, headers: Record<string, string> = {}, query = "") {
  const options = { method: "PUT", headers: { Authorization: `Bearer ${rig.token}`, ...headers } };
  return fetch(`${rig.base}/files/${pathOf(name)}${query}`, { ...options, body });
}

async function problem(response: Response) {
  return { status: response.status, ...((await response.json()) as { code?: string; metadata?: object }) };
}

it("a new file is created, and put again it is replaced and keeps its mode", {
  timeout: MINUTE,
}, async () => {
  const created = await put("a b.bin", content, { "Repr-Digest": digestOf(content) });
  const etag = `"${sha256Of(content)}"`;
  expect([created.status, created.headers.get("ETag"), created.headers.get("Repr-Digest")]).toEqual([
    ...[201, etag, digestOf(content)],
  ]);
  const location = new URL(created.headers.get("Location") ?? "", rig.base);
  const fetched = await fetch(location, { headers: { Authorization: `Bearer ${rig.token}` } });
  expect(sha256Of(new Uint8Array(await fetched.arrayBuffer()))).toBe(sha256Of(content));
  chmodSync(join(folder, "a b.bin"), 0o640);
  const replaced = await put("a b.bin", "small", { "If-Match": etag });
  expect([replaced.status, replaced.headers.get("ETag")]).toEqual([
    204,
    `"${sha256Of(Buffer.from("small"))}"`,
  ]);
  expect(statSync(join(folder, "a b.bin")).mode & 0o777).toBe(0o640);
  expect((await put("empty", "")).status).toBe(201);
  expect(readdirSync(folder).toSorted()).toEqual(["a b.bin", "empty"]);
});

it("curl stores a file, also without saying how long it is", { timeout: MINUTE }, async () => {
  const source = join(folder, "source");
  writeFileSync(source, content);
  const curl = (name: string, ...options: string[]) =>
    // Not synchronous: the line to the agent runs in this process.
    promisify(execFile)("curl", [
      ...["-sS", "--fail", "-T", source, "-H", `Authorization: Bearer ${rig.token}`, ...options],
      `${rig.base}/files/${pathOf(name)}`,
    ]);
  await curl("plain");
  await curl("chunked", "-H", "Transfer-Encoding: chunked");
  for (const name of ["plain", "chunked"])
    expect(sha256Of(readFileSync(join(folder, name)))).toBe(sha256Of(content));
});

it("a condition that does not hold is 412, and changes nothing", { timeout: MINUTE }, async () => {
  writeFileSync(join(folder, "a"), "old");
  expect(await problem(await put("a", "new", { "If-None-Match": "*" }))).toMatchObject({
    status: 412,
    code: "CONFLICT",
  });
  expect(await problem(await put("a", "new", { "If-Match": '"other"' }))).toMatchObject({ status: 412 });
  expect(await problem(await put("none", "new", { "If-Match": '"other"' }))).toMatchObject({ status: 412 });
  for (const headers of [
    { "If-Match": 'W/"weak"' },
    { "If-None-Match": '"x"' },
    { "Content-Range": "bytes 0-1/2" },
  ])
    expect(await problem(await put("a", "new", headers as Record<string, string>))).toMatchObject({
      status: 400,
    });
  expect((await put("new", "new", { "If-None-Match": "*" })).status).toBe(201);
  expect(readFileSync(join(folder, "a"), "utf8")).toBe("old");
  expect(readdirSync(folder).toSorted()).toEqual(["a", "new"]);
});

it("what cannot be stored is said with its status, and leaves nothing", { timeout: MINUTE }, async () => {
  mkdirSync(join(folder, "folder"));
  writeFileSync(join(folder, "one"), "old");
  linkSync(join(folder, "one"), join(folder, "two"));
  expect(
    await problem(await put("a", content, { "Repr-Digest": digestOf(Buffer.from("other")) })),
  ).toMatchObject({
    status: 409,
    metadata: { reason: "digest" },
  });
  expect(await problem(await put("a", "x", { "Content-Digest": "sha-256=:short:" }))).toMatchObject({
    status: 400,
  });
  expect((await put("none/a", "x")).status).toBe(404);
  for (const name of ["a%00b", "caf%e9"]) {
    const at = `${rig.base}/files/${pathOf("")}${name}`;
    const headers = { Authorization: `Bearer ${rig.token}` };
    expect(await problem(await fetch(at, { method: "PUT", body: "x", headers }))).toMatchObject({
      ...{ status: 400, code: "INVALID_PARAMETERS" },
    });
  }
  expect((await put("folder", "x")).status).toBeGreaterThanOrEqual(400);
  expect(await problem(await put("one", "x"))).toMatchObject({
    status: 409,
    metadata: { reason: "in_place" },
  });
  expect((await fetch(`${rig.base}/files/${pathOf("a")}`, { method: "PUT", body: "x" })).status).toBe(401);
  const closed = await fetch(`${rig.base}/files/${rig.dataDir.slice(1)}/agent/identity.json`, {
    ...{ method: "PUT", body: "x", headers: { Authorization: `Bearer ${rig.token}` } },
  });
  expect(closed.status).toBe(403);
  expect(readdirSync(folder).toSorted()).toEqual(["folder", "one", "two"]);
  expect(readFileSync(join(folder, "two"), "utf8")).toBe("old");
  expect((await put("one", "x", {}, "?in_place=true")).status).toBe(204);
  expect((await put("new/a", "x", {}, "?create_directories=true")).status).toBe(201);
});

it("a page of another origin cannot use somebody's sign-in", { timeout: MINUTE }, async () => {
  const headers = { Cookie: "matrx_session=anything", Origin: "https://evil.example" };
  const response = await fetch(`${rig.base}/files/${pathOf("a")}`, { method: "PUT", body: "x", headers });
  expect([401, 403]).toContain(response.status);
  expect(readdirSync(folder)).toEqual([]);
});

/** Sends a request's head and some of its body, and waits until a part has arrived at the device. */
async function sendHalf(framing: string, body: Buffer) {
  const { port, hostname, host, pathname } = new URL(`${rig.base}/files/${pathOf("a")}`);
  const socket = connect(Number(port), hostname === "localhost" ? "127.0.0.1" : hostname);
  await once(socket, "connect");
  socket.on("error", () => undefined);
  const head = [`PUT ${pathname} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${rig.token}`, framing];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  socket.write(body);
  const arrived = () => readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  await expect.poll(arrived, { timeout: 20_000 }).toBeGreaterThan(MiB / 2);
  return socket;
}

const half = content.subarray(0, MiB);
const HALVES: [string, string, Buffer][] = [
  ["a length that is too long", `Content-Length: ${content.length}`, half],
  [
    "a chunk that is not the last",
    "Transfer-Encoding: chunked",
    Buffer.concat([Buffer.from(`${half.length.toString(16)}\r\n`), half, Buffer.from("\r\n")]),
  ],
];

for (const [what, framing, body] of HALVES) {
  for (const [how, leave] of [
    ["ends", "end"],
    ["is torn down", "destroy"],
  ] as const) {
    it(`a request with ${what} that ${how} leaves nothing`, { timeout: MINUTE }, async () => {
      const socket = await sendHalf(framing, body);
      socket[leave]();
      await expect.poll(() => readdirSync(folder), { timeout: 20_000 }).toEqual([]);
      socket.destroy();
    });
  }
}

it("a device that does not read holds its sender back, and goes on later", { timeout: MINUTE }, async () => {
  const length = 64 * MiB;
  const socket = await sendHalf(`Content-Length: ${length}`, half);
  const { pid } = rig.agent.child;
  process.kill(pid, "SIGSTOP");
  let taken = 0;
  try {
    for (let at = half.length; at < length; at += half.length)
      socket.write(half, () => (taken += half.length));
    let last = -1;
    const stands = () => {
      const same = taken === last;
      last = taken;
      return same;
    };
    await expect.poll(stands, { timeout: 20_000, interval: 1000 }).toBe(true);
    expect(taken).toBeLessThan(24 * MiB);
  } finally {
    process.kill(pid, "SIGCONT");
  }
  const answer = (await once(socket, "data"))[0].toString();
  expect(answer).toMatch(/^HTTP\/1\.1 201 /);
  socket.destroy();
  expect(statSync(join(folder, "a")).size).toBe(length);
});

it("an agent that is killed in the middle leaves nothing once it is back, and the file as it was", {
  timeout: MINUTE,
}, async () => {
  writeFileSync(join(folder, "a"), "old");
  const socket = await sendHalf(`Content-Length: ${content.length}`, half);
  process.kill(rig.agent.child.pid, "SIGKILL");
  const answer = (await once(socket, "data"))[0].toString();
  expect(answer).toMatch(/^HTTP\/1\.1 50[34] /);
  socket.destroy();
  rig.agent = await startAgent(rig.dataDir);
  await rig.agent.registered();
  await expect.poll(() => readdirSync(folder), { timeout: 20_000 }).toEqual(["a"]);
  expect(readFileSync(join(folder, "a"), "utf8")).toBe("old");
});
