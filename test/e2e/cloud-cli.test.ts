/** `matrx cloud` by somebody who has signed in with `matrx login`. */
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cloudFileListSchema, cloudFileSchema } from "../../shared/cloud-file-api.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { Person } from "./person.ts";
import { type Rig, startRig } from "./rig.ts";

const MINUTE = { timeout: 60_000 };
const content = randomBytes(5 * 1024 * 1024);
const sha256 = createHash("sha256").update(content).digest("hex");

let rig: Rig;
let person: Person;
let here: string;

beforeAll(async () => {
  rig = await startRig();
  person = await Person.signIn(rig);
  here = join(rig.folder, "here");
  mkdirSync(here);
});
afterAll(() => rig?.stop());

test("a file is put there, listed, fetched here and to a device, and removed", MINUTE, async () => {
  const matrx = await person.commandLine(temporaryFolder());
  const path = join(rig.folder, "film.mp4");
  writeFileSync(path, content);
  const put = await matrx("cloud", "put", `${rig.device}:${path}`, "--days", "30");
  const { id } = cloudFileSchema.parse(put.json);
  expect(put.json).toMatchObject({ name: "film.mp4", size: content.length, sha256 });
  const { json } = await matrx("cloud", "list");
  expect(cloudFileListSchema.parse(json).files).toMatchObject([{ id, state: "stored" }]);

  expect(await matrx("cloud", "get", "film.mp4", here)).toMatchObject({
    ...{ code: 0, json: { id, path: join(here, "film.mp4"), sha256, bytes: content.length } },
  });
  expect(readFileSync(join(here, "film.mp4"))).toEqual(content);
  expect(readdirSync(here)).toEqual(["film.mp4"]);
  const there = join(rig.folder, "there", "again.mp4");
  expect(await matrx("cloud", "get", id, `${rig.device}:${there}`)).toMatchObject({ code: 0 });
  expect(readFileSync(there)).toEqual(content);

  expect(await matrx("cloud", "rm", "film.mp4")).toMatchObject({ code: 0, json: { removed: 1 } });
  expect((await matrx("cloud", "list")).json).toMatchObject({ files: [], bytes: 0 });
});

test("what can't be is said, with its exit code", MINUTE, async () => {
  const matrx = await person.commandLine(temporaryFolder());
  expect(await matrx("cloud", "put", "/no/device")).toMatchObject({ code: 64 });
  expect(await matrx("cloud", "put", `${rig.device}:/x`, "--days", "31")).toMatchObject({ code: 64 });
  expect(await matrx("cloud", "put", `${rig.device}:/not/there`)).toMatchObject({ code: 66 });
  expect(await matrx("cloud", "get", "none")).toMatchObject({ code: 66 });
  expect(await matrx("cloud", "rm", "none")).toMatchObject({ code: 66 });
});

test("a transfer that breaks off ends with an error, and leaves nothing", MINUTE, async () => {
  const matrx = await person.commandLine(temporaryFolder());
  const path = join(rig.folder, "large");
  writeFileSync(path, "");
  truncateSync(path, 300 * 1024 * 1024);
  const putting = matrx("cloud", "put", `${rig.device}:${path}`);
  const store = join(rig.dataDir, "cloud", "owner");
  await expect.poll(() => existsSync(store) && readdirSync(store).length, { interval: 5 }).toBe(1);
  rig.line.cut();
  expect(await putting).toMatchObject({ code: 69 });
  expect((await matrx("cloud", "list")).json).toMatchObject({ files: [], bytes: 0 });
  expect(readdirSync(store)).toEqual([]);
});
