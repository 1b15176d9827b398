/** Ann shares her machine with Ben, who has an account of his own: both at a command line, real relay, real agent. */
import { exportJWK, generateKeyPair } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import type { Credential } from "../../../scripts/start/owner.ts";
import { createdInviteSchema } from "../../../shared/invite-api.ts";
import { signedInSchema } from "../../../shared/session-api.ts";
import { type Rig, startRig } from "../../e2e/rig.ts";
import { makeFolder, removeFolder } from "../../helpers/folder.ts";
import { confirmed } from "./desk.ts";
import { type Ended, endOf, lineOf, runMatrx, startMatrx } from "./matrx.ts";

let rig: Rig;
let homes: { ann: string; ben: string };
beforeAll(async () => {
  rig = await startRig();
  homes = { ann: makeFolder(), ben: makeFolder() };
});
afterAll(async () => {
  for (const home of Object.values(homes ?? {})) removeFolder(home);
  await rig?.stop();
});

const ann = (...args: string[]): Promise<Ended> => runMatrx(args, { home: homes.ann });
const ben = (...args: string[]): Promise<Ended> => runMatrx(args, { home: homes.ben });

/** The owner's invite, accepted in a browser, and a command line signed in there. */
async function signInBen(): Promise<void> {
  const { relay } = rig;
  const invite = await relay.request(await relay.signIn(), "POST /v1/invites", createdInviteSchema, {
    name: "Ben",
  });
  const { publicKey } = await generateKeyPair("ES256", { extractable: true });
  const { kty, crv, x, y } = await exportJWK(publicKey);
  const browser = await relay.request(undefined, "POST /v1/invites/accept", signedInSchema, {
    ...{ code: invite.link.split("#invite=")[1], name: "Ben", key: { kty, crv, x, y } },
  });
  const child = startMatrx(["login", "--relay", relay.url, "--json"], { home: homes.ben });
  const ended = endOf(child);
  const { code } = await lineOf(child, ({ status }) => status === "pending");
  const credential = { token: browser.access_token } as Credential;
  await relay.request(credential, `POST /v1/pairings/${code}/confirm`, z.unknown(), {});
  expect((await ended).code).toBe(0);
}

test("both are signed in, each to an account of their own", { timeout: 120_000 }, async () => {
  expect((await confirmed(rig.relay, homes.ann, ["login", "--name", "desk"])).code).toBe(0);
  await signInBen();
  expect((await ann("whoami")).stdout).toMatch(/^owner at /);
  expect((await ben("whoami")).stdout).toMatch(/^[0-9a-z]{12} at /);
});

test("a share is made, accepted, used, and left again", { timeout: 120_000 }, async () => {
  const made = await ann(
    ...["share", "create", "notes", "--device", rig.device],
    ...["--path", rig.folder, "--effects", "read"],
  );
  expect(made).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`notes may read in ${rig.folder} on`),
  });
  const link = made.stdout.trim();
  expect(link).toMatch(/^http.*\/#share=[\w.-]+$/);
  expect((await ann("share", "list")).stdout).toMatch(/notes +to nobody yet +may read in/);
  const own = await ann("share", "accept", link);
  expect([own.code, own.stderr]).toEqual([65, expect.stringContaining("yours already")]);

  const elsewhere = await ben("share", "accept", link.replace(/^http:\/\/[^/]+/, "https://relay.example"));
  expect([elsewhere.code, elsewhere.stderr]).toEqual([64, expect.stringContaining("another relay")]);
  const accepted = await ben("share", "accept", link);
  expect([accepted.code, accepted.stdout]).toEqual([0, expect.stringMatching(/^owner shares with you: /)]);
  expect((await ben("devices")).stdout).toMatch(/SHARED BY\n.* owner\s*\n$/s);
  expect((await ann("devices")).stdout).not.toContain("SHARED BY");
  expect((await ann("share", "list")).stdout).toMatch(/notes +to Ben /);

  const listed = await ben("call", rig.device, "ListDirectory", `path=${rig.folder}`);
  expect([listed.stderr, listed.code]).toEqual(["", 0]);
  const ran = await ben("call", rig.device, "Bash", "command=id");
  expect([ran.code, ran.stderr]).toEqual([77, expect.stringMatching(/not allowed|may not|permission/i)]);
  expect((await ben("devices", "rename", rig.device, "mine")).code).toBe(77);

  expect((await ben("share", "leave", "photos")).code).toBe(66);
  expect((await ben("share", "leave", "notes")).stdout).toMatch(/^Left notes \(grant_/);
  expect(JSON.parse((await ben("devices", "--json")).stdout)).toEqual({ devices: [] });
  expect((await ann("share", "list", "--json")).stdout).toContain('"given":[]');
});

test("a share says which devices and folders it is for", async () => {
  const without = async (...args: string[]) => {
    const { code, stderr } = await ann("share", "create", "Ben", ...args);
    return [code, stderr];
  };
  expect(await without("--any-path")).toEqual([64, expect.stringContaining("--device")]);
  expect(await without("--device", rig.device)).toEqual([64, expect.stringContaining("--path")]);
});
