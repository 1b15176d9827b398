/** The person at the machine where `npm start` runs, who has signed in nowhere: the clone's own relay knows them. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Rig, startRig } from "../../e2e/rig.ts";
import { makeFolder, removeFolder } from "../../helpers/folder.ts";
import { runMatrx } from "./matrx.ts";

let rig: Rig;
let person: string;
beforeAll(async () => {
  rig = await startRig();
  person = makeFolder();
  writeFileSync(join(rig.dataDir, "authorization"), `Authorization: Bearer ${rig.token}\n`, { mode: 0o600 });
});
afterAll(async () => {
  await rig?.stop();
  if (person) removeFolder(person);
});

/** In the clone, with nothing but a home folder and the data folder of `npm start`. */
const matrx = (args: readonly string[], env: Record<string, string> = {}) =>
  runMatrx(args, {
    home: "",
    env: { HOME: person, XDG_CONFIG_HOME: "", XDG_STATE_HOME: "", MATRX_DATA: rig.dataDir, ...env },
  });

test("lists and calls right after `npm start`", async () => {
  const listed = await matrx(["devices"]);
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining(rig.device) });
  expect((await matrx(["call", "SystemInfo"])).stdout).toContain("hostname:");
});

test("is signed in at no other relay, and not where that file is gone", async () => {
  const elsewhere = await matrx(["devices", "--json"], { MATRX_RELAY: "http://localhost:9" });
  expect(JSON.parse(elsewhere.stdout).error).toMatchObject({
    code: "UNAUTHENTICATED",
    message: "Not signed in to http://localhost:9",
  });
  rmSync(join(rig.dataDir, "authorization"));
  expect(JSON.parse((await matrx(["devices", "--json"])).stdout).error).toMatchObject({
    code: "UNAUTHENTICATED",
  });
});
