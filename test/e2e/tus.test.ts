/** Resumable uploads with the client that programs and pages use (tus-js-client), through a real relay and a real agent. */
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Upload, type UploadOptions } from "tus-js-client";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { startAgent } from "./agent.ts";
import { type Rig, startRig } from "./rig.ts";

const MiB = 1024 * 1024;
const MINUTE = 60_000;
const content = randomBytes(12 * MiB + 7);
const VERSION = { "Tus-Resumable": "1.0.0" };
const BYTES = { "Content-Type": "application/offset+octet-stream" };

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

const pathOf = (name: string) => join(folder, name);
const digest = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest("base64");

interface Sending {
  readonly upload: Upload;
  readonly done: Promise<void>;
}

/** Sends the content as a client does, which tries again when something breaks. */
function send(
  metadata: Record<string, string>,
  options: UploadOptions = {},
  bytes: Buffer = content,
): Sending {
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  const upload = new Upload(bytes, {
    ...{ endpoint: `${rig.base}/uploads`, headers: { Authorization: `Bearer ${rig.token}` }, metadata },
    retryDelays: Array.from({ length: 60 }, () => 500),
    ...options,
    onSuccess: () => resolve(),
    onError: reject,
  });
  upload.start();
  return { upload, done };
}

function ask(method: string, path: string, headers: Record<string, string> = {}, body?: string | Uint8Array) {
  return fetch(new URL(path, `${rig.base}/`), {
    ...{ method, headers: { Authorization: `Bearer ${rig.token}`, ...headers } },
    ...(body !== undefined && { body }),
  });
}

const encoded = (metadata: Record<string, string>) =>
  Object.entries(metadata)
    .map(([name, value]) => `${name} ${Buffer.from(value).toString("base64")}`)
    .join(",");

/** Begins an upload by hand; returns its URL. */
async function begin(length: number, metadata: Record<string, string>): Promise<string> {
  const headers = { ...VERSION, "Upload-Length": String(length), "Upload-Metadata": encoded(metadata) };
  const response = await ask("POST", "uploads", headers);
  expect([response.status, response.headers.get("Tus-Resumable")]).toEqual([201, "1.0.0"]);
  return response.headers.get("Location") ?? "";
}

const patch = (url: string, offset: number, body: string, headers: Record<string, string> = {}) =>
  ask("PATCH", url, { ...VERSION, ...BYTES, "Upload-Offset": String(offset), ...headers }, body);

const arrivedBytes = () => readdirSync(folder).reduce((sum, name) => sum + statSync(pathOf(name)).size, 0);

it("a file arrives, at once, in pieces, with its creation, and empty", { timeout: MINUTE }, async () => {
  await send({ path: pathOf("once") }).done;
  await send({ folder, filename: "pieces é.bin" }, { chunkSize: 5 * MiB }).done;
  await send({ path: pathOf("with") }, { uploadDataDuringCreation: true }).done;
  await send({ path: pathOf("empty") }, {}, Buffer.alloc(0)).done;
  for (const name of ["once", "pieces é.bin", "with"])
    expect(readFileSync(pathOf(name)).equals(content)).toBe(true);
  expect(readFileSync(pathOf("empty")).length).toBe(0);
  expect(readdirSync(folder).toSorted()).toEqual(["empty", "once", "pieces é.bin", "with"]);
});

it("a client whose connection breaks continues where it was", { timeout: MINUTE }, async () => {
  const { upload } = send({ path: pathOf("a") }, { chunkSize: 3 * MiB });
  await expect.poll(arrivedBytes, { timeout: 20_000 }).toBeGreaterThan(2 * MiB);
  await upload.abort();
  expect(readdirSync(folder)).not.toContain("a");
  const offsets: (string | undefined)[] = [];
  const again = send(
    { path: pathOf("a") },
    {
      uploadUrl: upload.url,
      onBeforeRequest: (request) => {
        if (request.getMethod() === "PATCH") offsets.push(request.getHeader("Upload-Offset"));
      },
    },
  );
  await again.done;
  expect(Number(offsets[0])).toBeGreaterThan(2 * MiB);
  expect(readFileSync(pathOf("a")).equals(content)).toBe(true);
});

it("a client does not notice that the line to the device was cut, nor that the agent was killed", {
  timeout: MINUTE,
}, async () => {
  writeFileSync(pathOf("a"), "old");
  const sending = send({ path: pathOf("a") }, { chunkSize: 2 * MiB });
  await expect.poll(arrivedBytes, { timeout: 20_000 }).toBeGreaterThan(3 * MiB);
  rig.line.cut();
  await expect.poll(arrivedBytes, { timeout: 20_000 }).toBeGreaterThan(7 * MiB);
  await rig.agent.child.kill();
  expect(readFileSync(pathOf("a"), "utf8")).toBe("old");
  rig.agent = await startAgent(rig.dataDir);
  await sending.done;
  expect(readFileSync(pathOf("a")).equals(content)).toBe(true);
  expect(readdirSync(folder)).toEqual(["a"]);
});

it("an upload that the client removes leaves nothing", { timeout: MINUTE }, async () => {
  const { upload } = send({ path: pathOf("a") }, { chunkSize: 3 * MiB });
  await expect.poll(arrivedBytes, { timeout: 20_000 }).toBeGreaterThan(2 * MiB);
  await upload.abort(true);
  expect(readdirSync(folder)).toEqual([]);
  expect((await ask("HEAD", upload.url ?? "", VERSION)).status).toBe(404);
});

it("a length that lies gives no file", { timeout: MINUTE }, async () => {
  const long = await begin(3, { path: pathOf("long") });
  expect((await patch(long, 0, "four")).status).toBe(400);
  const short = await begin(5, { path: pathOf("short") });
  expect((await patch(short, 0, "four")).status).toBe(204);
  expect((await ask("HEAD", short, VERSION)).headers.get("Upload-Offset")).toBe("4");
  expect(readdirSync(folder).filter((name) => !name.endsWith(".part"))).toEqual([]);
  for (const url of [long, short]) expect((await ask("DELETE", url, VERSION)).status).toBe(204);
  expect(readdirSync(folder)).toEqual([]);
});

it("a wrong digest of the whole gives no file, and one of a piece only costs the piece", {
  timeout: MINUTE,
}, async () => {
  const sha256 = createHash("sha256").update("right").digest("hex");
  const whole = await begin(5, { path: pathOf("whole"), sha256 });
  const refused = await patch(whole, 0, "wrong");
  expect([refused.status, await refused.json()]).toMatchObject([409, { metadata: { reason: "digest" } }]);
  expect(readdirSync(folder)).toEqual([]);

  const url = await begin(5, { path: pathOf("a") });
  for (const algorithm of ["sha1", "sha256"]) {
    const checksum = { "Upload-Checksum": `${algorithm} ${digest(algorithm, Buffer.from("hello"))}` };
    expect((await patch(url, 0, "hallo", checksum)).status).toBe(460);
    expect((await ask("HEAD", url, VERSION)).headers.get("Upload-Offset")).toBe("0");
  }
  const right = { "Upload-Checksum": `sha1 ${digest("sha1", Buffer.from("hello"))}` };
  expect((await patch(url, 0, "hello", { "Upload-Checksum": "md5 1B2M2Y8AsgTpgAmY7PhCfg==" })).status).toBe(
    400,
  );
  expect((await patch(url, 0, "hello", right)).status).toBe(204);
  expect(readFileSync(pathOf("a"), "utf8")).toBe("hello");
});

it("a complete upload whose file could not be put into place is never said to be finished", {
  timeout: MINUTE,
}, async () => {
  const url = await begin(5, { path: pathOf("a"), overwrite: "false" });
  writeFileSync(pathOf("a"), "theirs");
  expect((await patch(url, 0, "hello")).status).toBe(409);
  expect((await ask("GET", url, VERSION)).status).toBe(409);
  // At 409 the client would send everything again.
  expect((await ask("HEAD", url, VERSION)).status).toBe(423);
  expect(readFileSync(pathOf("a"), "utf8")).toBe("theirs");
  removeFolder(pathOf("a"));
  await ask("HEAD", url, VERSION);
  // Whoever did not get that answer asks again.
  const head = await ask("HEAD", url, VERSION);
  expect([head.status, head.headers.get("Upload-Offset"), head.headers.get("Upload-Length")]).toEqual([
    200,
    "5",
    "5",
  ]);
  expect(readFileSync(pathOf("a"), "utf8")).toBe("hello");
});

it("what breaks the protocol is refused with its status", { timeout: MINUTE }, async () => {
  const options = await ask("OPTIONS", "uploads");
  expect([options.status, options.headers.get("Tus-Version")]).toEqual([204, "1.0.0"]);
  expect(options.headers.get("Tus-Extension")).toContain("checksum");
  const url = await begin(5, { path: pathOf("a") });
  const wrong = await ask(
    "PATCH",
    url,
    { ...BYTES, "Tus-Resumable": "0.2.2", "Upload-Offset": "0" },
    "hello",
  );
  expect([wrong.status, wrong.headers.get("Tus-Version")]).toEqual([412, "1.0.0"]);
  expect((await patch(url, 3, "lo")).status).toBe(409);
  expect((await patch(url, 0, "hello", { "Content-Type": "text/plain" })).status).toBe(415);
  expect((await patch(url, 0, "hello", { "Upload-Offset": "-1" })).status).toBe(400);
  for (const metadata of [
    ...[{ folder, filename: "../a" }, { path: pathOf("a\0b") }, { filename: "a" }, {}],
    ...[
      { path: pathOf("b"), overwrite: "no" },
      { path: pathOf("b"), create_directories: "1" },
    ],
  ]) {
    const headers = {
      ...VERSION,
      "Upload-Length": "5",
      "Upload-Metadata": encoded(metadata as Record<string, string>),
    };
    expect((await ask("POST", "uploads", headers)).status).toBe(400);
  }
  const deferred = {
    ...VERSION,
    "Upload-Defer-Length": "1",
    "Upload-Metadata": encoded({ path: pathOf("b") }),
  };
  expect((await ask("POST", "uploads", deferred)).status).toBe(400);
  const answer = await ask("HEAD", url, { ...VERSION, Origin: "https://page.example" });
  expect([answer.headers.get("Upload-Offset"), answer.headers.get("Cache-Control")]).toEqual([
    "0",
    "no-store",
  ]);
  expect(answer.headers.get("Access-Control-Expose-Headers")).toContain("Upload-Offset");
  expect((await fetch(new URL(url, rig.base), { method: "HEAD", headers: VERSION })).status).toBe(401);
  expect((await ask("DELETE", url, VERSION)).status).toBe(204);
});

it("a program that can only POST sends, looks and removes by it", { timeout: MINUTE }, async () => {
  const bytes = content.subarray(0, MiB);
  const { done } = send({ path: pathOf("a") }, { overridePatchMethod: true, chunkSize: 400_000 }, bytes);
  await done;
  expect(readFileSync(pathOf("a")).equals(bytes)).toBe(true);
  const url = await begin(5, { path: pathOf("b") });
  const meaning = (method: string, headers: Record<string, string> = {}, sentBy = "POST") =>
    ask(sentBy, url, { ...VERSION, "X-HTTP-Method-Override": method, ...headers });
  const looked = await meaning("HEAD");
  expect([looked.status, looked.headers.get("Upload-Offset"), await looked.text()]).toEqual([200, "0", ""]);
  for (const refused of [meaning("PUT"), meaning("DELETE", {}, "PATCH"), meaning("DELETE", {}, "GET")])
    expect((await refused).status).toBe(400);
  expect((await ask("HEAD", url, VERSION)).status).toBe(200);
  expect((await meaning("delete")).status).toBe(204);
  expect((await ask("HEAD", url, VERSION)).status).toBe(404);
});

it("what would be taken for something else is refused, and said", { timeout: MINUTE }, async () => {
  const parallel = send({ path: pathOf("a") }, { parallelUploads: 2 }, content.subarray(0, MiB));
  await expect(parallel.done).rejects.toThrow(/Upload-Concat.*one upload/s);
  const twice = `${encoded({ path: pathOf("a") })},${encoded({ path: pathOf("b") })}`;
  for (const [name, value, why] of [
    ["Upload-Metadata", twice, "path must be there once only"],
    ["Upload-Metadata", `${encoded({ path: pathOf("a") })} more`, "path is not Base64"],
    ["Upload-Defer-Length", "1", "say the size by Upload-Length"],
    ["Upload-Concat", "final;/files/a /files/b", "one upload"],
  ] as const) {
    const usual = { "Upload-Length": "5", "Upload-Metadata": encoded({ path: pathOf("a") }) };
    const refused = await ask("POST", "uploads", { ...VERSION, ...usual, [name]: value });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining(why)]);
  }
  expect(readdirSync(folder)).toEqual([]);
});
