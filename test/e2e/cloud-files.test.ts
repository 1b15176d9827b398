/** The cloud store of a real relay: files of a real agent go there, are fetched, come back, and end. */
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type CloudFile, cloudFileListSchema, cloudFileSchema } from "../../shared/cloud-file-api.ts";
import { Person, type Reply } from "./person.ts";
import { type Rig, startRig } from "./rig.ts";

const MINUTE = 60_000;
const MIB = 1024 * 1024;

let rig: Rig;
let person: Person;

beforeAll(async () => {
  rig = await startRig();
  person = await Person.signIn(rig);
});
afterAll(() => rig?.stop());
beforeEach(async () => {
  for (const { id } of (await listed()).files) await person.ask("DELETE", `/v1/cloud-files/${id}`);
  expect(stored()).toEqual([]);
});

async function listed() {
  return cloudFileListSchema.parse((await person.ask("GET", "/v1/cloud-files")).body);
}

/** What lies in the store's folder. */
function stored(): string[] {
  const folder = join(rig.dataDir, "cloud", "owner");
  return existsSync(folder) ? readdirSync(folder) : [];
}

function send(path: string, days = 7): Promise<Reply> {
  return person.ask("POST", `/v1/devices/${rig.device}/cloud-files`, { path, days });
}

async function sent(path: string): Promise<CloudFile> {
  const { status, body } = await send(path);
  expect([status, body]).toEqual([201, expect.anything()]);
  return cloudFileSchema.parse(body);
}

function fileOf(name: string, content: string | Buffer): string {
  const path = join(rig.folder, name);
  writeFileSync(path, content);
  return path;
}

function sha256(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("hex");
}

it("a file is stored, listed, fetched whole and in part, and removed", { timeout: MINUTE }, async () => {
  const content = randomBytes(3 * MIB + 17);
  const file = await sent(fileOf("a report.pdf", content));
  expect(file).toMatchObject({
    ...{ name: "a report.pdf", device: rig.device, media_type: "application/pdf", state: "stored" },
    ...{ size: content.length, arrived: content.length, sha256: sha256(content) },
  });
  expect(Date.parse(file.expires) - Date.parse(file.created)).toBe(7 * 24 * 60 * MINUTE);
  expect(await listed()).toMatchObject({ files: [file], bytes: content.length });
  const path = `/v1/cloud-files/${file.id}`;
  const whole = await person.fetch(path);
  expect(sha256(Buffer.from(await whole.arrayBuffer()))).toBe(file.sha256);
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    "content-length": String(content.length),
    "content-disposition": expect.stringContaining('filename="a report.pdf"'),
    "content-security-policy": expect.stringMatching(/^sandbox/),
    etag: `"${file.sha256}"`,
  });
  const part = await person.fetch(path, { Range: "bytes=5-9" });
  expect([part.status, part.headers.get("content-range")]).toEqual([206, `bytes 5-9/${content.length}`]);
  expect(Buffer.from(await part.arrayBuffer())).toEqual(content.subarray(5, 10));
  expect((await person.fetch(path, { Range: `bytes=${content.length}-` })).status).toBe(416);
  expect((await person.fetch(path, { "If-None-Match": `"${file.sha256}"` })).status).toBe(304);
  const head = await person.fetch(path, {}, "HEAD");
  expect([head.status, head.headers.get("content-length")]).toEqual([200, String(content.length)]);
  expect((await person.ask("DELETE", path)).status).toBe(204);
  expect((await person.fetch(path)).status).toBe(404);
  expect(stored()).toEqual([]);
});

it("an empty file and a folder are stored, the folder as a zip", { timeout: MINUTE }, async () => {
  const empty = await sent(fileOf("empty", ""));
  expect(empty).toMatchObject({ size: 0, sha256: sha256("") });
  expect(await (await person.fetch(`/v1/cloud-files/${empty.id}`)).text()).toBe("");
  mkdirSync(join(rig.folder, "photos"));
  writeFileSync(join(rig.folder, "photos", "one.txt"), "one");
  const zip = await sent(join(rig.folder, "photos"));
  expect(zip).toMatchObject({ name: "photos.zip", media_type: "application/zip" });
  const bytes = Buffer.from(await (await person.fetch(`/v1/cloud-files/${zip.id}`)).arrayBuffer());
  expect(bytes.subarray(0, 2).toString()).toBe("PK");
  expect([bytes.length, sha256(bytes)]).toEqual([zip.size, zip.sha256]);
});

it("a file comes back to a device, over another one only if that is wanted", {
  timeout: MINUTE,
}, async () => {
  const content = randomBytes(2 * MIB);
  const { id } = await sent(fileOf("original", content));
  const copies = `/v1/devices/${rig.device}/cloud-copies`;
  const path = join(rig.folder, "new", "copy");
  expect(await person.ask("POST", copies, { file: id, path })).toMatchObject({ status: 404 });
  const answer = await person.ask("POST", copies, { file: id, path, create_directories: true });
  expect(answer).toMatchObject({ status: 201, body: { path, created: true, sha256: sha256(content) } });
  expect(sha256(readFileSync(path))).toBe(sha256(content));
  const refused = await person.ask("POST", copies, { file: id, path, overwrite: false });
  expect(refused).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
  const replaced = await person.ask("POST", copies, { file: id, path });
  expect(replaced).toMatchObject({ status: 201, body: { created: false } });
  expect(await person.ask("POST", copies, { file: "cloud_0000000000000000", path })).toMatchObject({
    status: 404,
  });
});

it("what the device or its policy refuses is refused, and takes no room", { timeout: MINUTE }, async () => {
  expect(await send(join(rig.folder, "none"))).toMatchObject({ status: 404 });
  expect(await send(join(rig.dataDir, "agent/identity.json"))).toMatchObject({ status: 403 });
  expect(await send(fileOf("x", "x"), 31)).toMatchObject({ status: 400 });
  // What lies in the store is other accounts', too.
  const { id } = await sent(fileOf("x", "x"));
  expect(await send(join(rig.dataDir, "cloud", "owner", id))).toMatchObject({ status: 403 });
  await person.ask("DELETE", `/v1/cloud-files/${id}`);
  await person.setPolicy({ denied_tools: ["Download"] });
  expect(await send(fileOf("x", "x"))).toMatchObject({ status: 403 });
  await person.setPolicy({});
  expect(await listed()).toMatchObject({ files: [], bytes: 0 });
});

it("a token, an AI's or a script's, has no part in it", { timeout: MINUTE }, async () => {
  const { id } = await sent(fileOf("secret", "secret"));
  const path = fileOf("y", "y");
  for (const { ask } of [await person.grant(), await person.grant({ effects: ["read", "write"] })])
    for (const [method, url, body] of [
      ["GET", "/v1/cloud-files"],
      ["GET", `/v1/cloud-files/${id}`],
      ["DELETE", `/v1/cloud-files/${id}`],
      ["POST", `/v1/devices/${rig.device}/cloud-files`, { path }],
      ["POST", `/v1/devices/${rig.device}/cloud-copies`, { file: id, path }],
    ] as const)
      expect(await ask(method, url, body)).toMatchObject({
        status: 403,
        body: { code: "PERMISSION_DENIED" },
      });
  expect((await fetch(`${rig.relay.url}/v1/cloud-files/${id}`)).status).toBe(401);
  expect(stored()).toEqual([id]);
});

it("a transfer that is cut leaves nothing", { timeout: 2 * MINUTE }, async () => {
  const path = fileOf("large", "");
  truncateSync(path, 300 * MIB);
  const sending = send(path);
  await expect.poll(async () => (await listed()).files[0]?.arrived ?? 0).toBeGreaterThan(0);
  expect((await listed()).files).toMatchObject([{ state: "arriving", size: 300 * MIB, sha256: null }]);
  rig.line.cut();
  expect(await sending).toMatchObject({ status: 503, body: { code: "UNAVAILABLE" } });
  expect(await listed()).toMatchObject({ files: [], bytes: 0 });
  expect(stored()).toEqual([]);
  await expect.poll(() => rig.isOnline()).toBe(true);
});

it("one that is removed while it arrives is stopped", { timeout: 2 * MINUTE }, async () => {
  const path = fileOf("large", "");
  truncateSync(path, 300 * MIB);
  const sending = send(path);
  await expect.poll(async () => (await listed()).files.length).toBe(1);
  const [file] = (await listed()).files;
  expect(await person.fetch(`/v1/cloud-files/${file?.id}`)).toMatchObject({ status: 404 });
  await person.ask("DELETE", `/v1/cloud-files/${file?.id}`);
  expect(await sending).toMatchObject({ status: 404 });
  expect(stored()).toEqual([]);
});

it("what a killed relay left half is gone when it starts again", { timeout: 2 * MINUTE }, async () => {
  const path = fileOf("large", "");
  truncateSync(path, 300 * MIB);
  const kept = await sent(fileOf("kept", "kept"));
  const sending = send(path).catch((error: unknown) => error);
  await expect.poll(() => stored().some((name) => name.endsWith(".tmp"))).toBe(true);
  await rig.relay.kill();
  expect(await sending).toBeInstanceOf(Error);
  await rig.relay.ready();
  expect(stored()).toEqual([kept.id]);
  expect(await (await person.fetch(`/v1/cloud-files/${kept.id}`)).text()).toBe("kept");
});
