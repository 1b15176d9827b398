/** Files over HTTP through a real relay and a real agent, fetched as people and programs do. */
import { execFile, execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Rig, startRig } from "./rig.ts";

const MiB = 1024 * 1024;
const MINUTE = 60_000;
const content = randomBytes(20 * MiB);
const NAME = "Bericht \u201eM\u00e4rz\u201c 100%.pdf";

let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
  writeFileSync(join(rig.folder, "large.bin"), content);
  writeFileSync(join(rig.folder, NAME), "pdf");
});
afterAll(() => rig?.stop());

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function urlOf(name: string): string {
  const path = join(rig.folder, name).split("/").map(encodeURIComponent).join("/").replace(/^\//, "");
  return `${rig.base}/files/${path}`;
}

function get(name: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> {
  return fetch(urlOf(name), { method, headers: { Authorization: `Bearer ${rig.token}`, ...headers } });
}

async function bytesOf(response: Response): Promise<Uint8Array> {
  return new Uint8Array(await response.arrayBuffer());
}

it("a file arrives whole, with length, digest, type and name", { timeout: MINUTE }, async () => {
  const response = await get("large.bin");
  expect(response.status).toBe(200);
  const sha256 = hashOf(content);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-length": String(content.length),
    "content-type": "application/octet-stream",
    "content-disposition": `attachment; filename="large.bin"; filename*=UTF-8''large.bin`,
    "accept-ranges": "bytes",
    "x-content-type-options": "nosniff",
    "content-security-policy": expect.stringMatching(/^sandbox;/),
    etag: `"${sha256}"`,
    "repr-digest": `sha-256=:${Buffer.from(sha256, "hex").toString("base64")}:`,
  });
  expect(hashOf(await bytesOf(response))).toBe(sha256);
  const named = await get(NAME);
  expect(named.headers.get("Content-Type")).toBe("application/pdf");
  expect(named.headers.get("Content-Disposition")).toContain(
    "filename*=UTF-8''Bericht%20%E2%80%9EM%C3%A4rz%E2%80%9C%20100%25.pdf",
  );
  expect(await named.text()).toBe("pdf");
});

it("HEAD tells all but the bytes, and whoever has the file need not fetch it", {
  timeout: MINUTE,
}, async () => {
  const head = await get("large.bin", {}, "HEAD");
  expect([head.status, head.headers.get("Content-Length")]).toEqual([200, String(content.length)]);
  expect(await head.text()).toBe("");
  const etag = head.headers.get("ETag") ?? "";
  const again = await get("large.bin", { "If-None-Match": etag });
  expect([again.status, await again.text(), again.headers.get("ETag")]).toEqual([304, "", etag]);
  expect((await get("large.bin", { "If-Match": '"other"' })).status).toBe(412);
});

it("curl continues a download that broke off", { timeout: MINUTE }, async () => {
  const saved = join(rig.folder, "saved.bin");
  writeFileSync(saved, content.subarray(0, 7 * MiB + 1));
  const options = ["-sS", "--fail", "-C", "-", "-o", saved, "-H", `Authorization: Bearer ${rig.token}`];
  // Not synchronous: the line to the agent runs in this process.
  await promisify(execFile)("curl", [...options, urlOf("large.bin")]);
  expect(hashOf(readFileSync(saved))).toBe(hashOf(content));
});

it("a range is exactly that, and one behind the end is refused", { timeout: MINUTE }, async () => {
  const middle = await get("large.bin", { Range: "bytes=1000-300999" });
  expect([middle.status, middle.headers.get("Content-Range")]).toEqual([
    206,
    `bytes 1000-300999/${content.length}`,
  ]);
  expect(hashOf(await bytesOf(middle))).toBe(hashOf(content.subarray(1000, 301_000)));
  const tail = await get("large.bin", { Range: "bytes=-5" });
  expect(await bytesOf(tail)).toEqual(new Uint8Array(content.subarray(-5)));
  const behind = await get("large.bin", { Range: `bytes=${content.length}-` });
  expect([behind.status, behind.headers.get("Content-Range")]).toEqual([416, `bytes */${content.length}`]);
});

it("a folder arrives as a zip that others can open", { timeout: MINUTE }, async () => {
  const folder = join(rig.folder, "album");
  mkdirSync(join(folder, "2026"), { recursive: true });
  writeFileSync(join(folder, "2026", "a.txt"), "first");
  writeFileSync(join(folder, "b.bin"), content.subarray(0, 3 * MiB));
  const response = await get("album");
  expect(response.headers.get("Content-Type")).toBe("application/zip");
  expect(response.headers.get("Content-Disposition")).toContain("album.zip");
  const zip = join(rig.folder, "album.zip");
  writeFileSync(zip, await bytesOf(response));
  const python =
    "import zipfile,sys; z=zipfile.ZipFile(sys.argv[1]); print(z.testzip(), z.read('album/2026/a.txt').decode())";
  expect(execFileSync("python3", ["-c", python, zip]).toString().trim()).toBe("None first");
});

it("what cannot be had is said with its status", { timeout: MINUTE }, async () => {
  const missing = await get("missing.txt");
  expect([missing.status, (await missing.json()) as object]).toMatchObject([404, { code: "NOT_FOUND" }]);
  const wrong = await fetch(`${rig.base}/files/%ff`, { headers: { Authorization: `Bearer ${rig.token}` } });
  expect([wrong.status, (await wrong.json()) as object]).toMatchObject([400, { code: "INVALID_PARAMETERS" }]);
  const nul = await fetch(`${rig.base}/files/etc/%00`, { headers: { Authorization: `Bearer ${rig.token}` } });
  expect(nul.status).toBe(400);
  expect((await fetch(urlOf("large.bin"))).status).toBe(401);
  const closed = await fetch(`${rig.base}/files/${rig.dataDir.slice(1)}/agent/identity.json`, {
    headers: { Authorization: `Bearer ${rig.token}` },
  });
  expect(closed.status).toBe(403);
  expect((await get("large.bin", {}, "POST")).status).toBe(405);
});

it("a path is taken as it was sent, with line breaks and `..` in it", { timeout: MINUTE }, async () => {
  writeFileSync(join(rig.folder, "two\nlines.txt"), "odd");
  const odd = await get("two\nlines.txt");
  expect([odd.status, await odd.text()]).toEqual([200, "odd"]);
  const { pathname, port, hostname } = new URL(urlOf("large.bin"));
  // Clients resolve it first; a program that does not must not reach another place.
  const path = pathname.replace("/files/", "/files/x/%2e%2e/../../../");
  const headers = { Authorization: `Bearer ${rig.token}` };
  const response = await new Promise<import("node:http").IncomingMessage>((resolve) =>
    request({ port, hostname, path, headers, method: "HEAD" }, resolve).end(),
  );
  expect([response.statusCode, response.headers["content-length"]]).toEqual([200, String(content.length)]);
});

it("a file that shrinks while it is sent breaks off: fewer bytes than announced, and no wrong ones", {
  timeout: MINUTE,
}, async () => {
  const path = join(rig.folder, "shrinking.bin");
  writeFileSync(path, content);
  const response = await new Promise<import("node:http").IncomingMessage>((resolve) =>
    request(urlOf("shrinking.bin"), { headers: { Authorization: `Bearer ${rig.token}` } }, resolve).end(),
  );
  const pieces: Buffer[] = [];
  const reading = (async () => {
    for await (const piece of response) {
      if (pieces.length === 0) truncateSync(path, 1000);
      pieces.push(piece as Buffer);
    }
  })();
  await expect(reading).rejects.toThrow();
  const got = Buffer.concat(pieces);
  expect(got.length).toBeLessThan(content.length);
  expect(got.equals(content.subarray(0, got.length))).toBe(true);
});

it("a reader that takes the headers and nothing more costs the relay under 16 MiB", {
  timeout: MINUTE,
}, async () => {
  // What the first transfer takes is kept.
  await bytesOf(await get("large.bin"));
  truncateSync(join(rig.folder, "large.bin"), 256 * MiB);
  const resident = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${rig.relay.pid}/status`, "utf8"))?.[1]) * 1024;
  const before = resident();
  const response = await new Promise<import("node:http").IncomingMessage>((resolve) =>
    request(urlOf("large.bin"), { headers: { Authorization: `Bearer ${rig.token}` } }, resolve).end(),
  );
  response.pause();
  let most = 0;
  for (let look = 0; look < 30; look++) {
    most = Math.max(most, resident());
    await sleep(100);
  }
  expect(most - before).toBeLessThan(16 * MiB);
  response.destroy();
  writeFileSync(join(rig.folder, "large.bin"), content);
});

it("a reader that leaves ends the stream at the device", { timeout: MINUTE }, async () => {
  const leaving = new AbortController();
  const response = await fetch(urlOf("large.bin"), {
    headers: { Authorization: `Bearer ${rig.token}` },
    signal: leaving.signal,
  });
  await response.body?.getReader().read();
  leaving.abort();
  const openFiles = async () => {
    const answer = await fetch(`${rig.base}/tools/Bash`, {
      method: "POST",
      headers: { Authorization: `Bearer ${rig.token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ command: "ls -l /proc/[0-9]*/fd 2>/dev/null | grep -c large.bin; true" }),
    });
    return ((await answer.json()) as { output: string }).output.trim();
  };
  await expect.poll(openFiles, { timeout: 20_000 }).toBe("0");
});
