/** `npm run rotate`, against the real launcher: what a thief of the keys had, and what everybody else keeps. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { importJWK, SignJWT } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { keysFile, openSecrets } from "../../scripts/start/secrets.ts";
import { ROOT } from "../../scripts/tree.ts";
import { type RelayKeys, relayKeysSchema } from "../../shared/relay-keys.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { launch, personsEnvironment, pidsOn, shell, until } from "../helpers/launcher.ts";

const ROTATE = join(ROOT, "scripts/rotate.ts");

/** Types `npm run rotate -- ARGS`, while the relay that it restarts may run below this process. */
function rotate(dataDir: string, ...args: string[]) {
  const child = spawn(process.execPath, [ROTATE, ...args], {
    env: { ...personsEnvironment(), MATRX_DATA: dataDir },
  });
  const said = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said.stderr += text;
  });
  return new Promise<typeof said & { code: number | null }>((resolve) =>
    child.once("close", (code) => resolve({ ...said, code })),
  );
}

async function keysIn(dataDir: string): Promise<RelayKeys["keys"]> {
  return relayKeysSchema.parse(JSON.parse((await openSecrets(dataDir)).relayKeys)).keys;
}

/** What a thief of these keys signs: an owner's token. */
async function forge([key]: RelayKeys["keys"], grant: string): Promise<string> {
  return new SignJWT({ gid: grant })
    .setProtectedHeader({ alg: "EdDSA", kid: key.kid })
    .setIssuer("matrx-relay")
    .setAudience("matrx:caller")
    .setSubject("owner")
    .setJti(crypto.randomUUID())
    .setExpirationTime("1h")
    .sign(await importJWK({ kty: "OKP", crv: "Ed25519", x: key.x, d: key.d }, "EdDSA"));
}

async function statusOf(url: string, token: string): Promise<number> {
  const response = await fetch(`${url}/v1/account`, { headers: { Authorization: `Bearer ${token}` } });
  await response.arrayBuffer();
  return response.status;
}

test("a running relay takes up new keys: thieves are out, all others go on; --drop ends the rest", {
  timeout: 120_000,
}, async () => {
  const dataDir = join(temporaryFolder(), "my relay");
  const launcher = launch(dataDir);
  const line = await launcher.curlLine();
  const url = new URL(line.split(" ").at(-1) ?? "").origin;
  const own = readFileSync(join(dataDir, "authorization"), "utf8").trim().split(" ").at(-1) ?? "";
  const { grant } = (await (
    await fetch(`${url}/v1/account`, { headers: { Authorization: `Bearer ${own}` } })
  ).json()) as { grant: string };
  const link = launcher.output().match(/#claim=(\S+)/)?.[1] ?? "";
  const old = await keysIn(dataDir);
  const forged = await forge(old, grant);
  expect(await statusOf(url, forged)).toBe(200);

  const { code, stdout, stderr } = await rotate(dataDir);
  expect([code, stderr]).toEqual([0, expect.stringContaining("It answers with these keys.")]);
  expect(stderr).toContain(`Retired key:  ${old[0].kid}`);
  expect(stdout).toContain("revoke tokens");
  expect(await statusOf(url, forged)).toBe(401);
  expect(await statusOf(url, await forge(old, grant))).toBe(401);
  const claimed = await fetch(`${url}/v1/claim`, {
    method: "POST",
    body: JSON.stringify({
      code: link,
      key: { kty: "EC", crv: "P-256", x: "x".repeat(43), y: "y".repeat(43) },
    }),
  });
  expect(claimed.status).toBe(401);
  await until("the curl line works again, with its old token", async () => {
    const answer = JSON.parse(await shell(line)) as { type?: string };
    return answer.type === "success";
  });
  await until("the launcher says why", () =>
    launcher.output().includes("The relay has new keys. Restarting"),
  );

  const [first, ...others] = await keysIn(dataDir);
  expect(first).toHaveProperty("d");
  expect(others).toEqual([
    {
      kty: "OKP",
      crv: "Ed25519",
      kid: old[0].kid,
      x: old[0].x,
      alg: "EdDSA",
      use: "sig",
      retired: expect.any(String),
    },
  ]);
  expect(statSync(keysFile(dataDir)).mode & 0o777).toBe(0o600);
  const files = readdirSync(dataDir).map((name) => join(dataDir, name));
  const texts = files.filter((file) => statSync(file).isFile()).map((file) => readFileSync(file, "utf8"));
  for (const content of texts) expect(content).not.toContain(old[0].d);

  const dropped = await rotate(dataDir, "--drop");
  expect([dropped.code, dropped.stderr]).toEqual([0, expect.stringContaining(`Removed key:  ${old[0].kid}`)]);
  expect(await statusOf(url, own)).toBe(401);
  expect(await keysIn(dataDir)).toEqual([first]);
  await until("the curl line works again, with a new token", async () => {
    const answer = JSON.parse(await shell(line)) as { type?: string };
    return answer.type === "success";
  });
  expect(pidsOn(dataDir)).toHaveLength(3);
  launcher.process.kill("SIGINT");
  expect(await launcher.exit).toBe(0);
});

test("without a relay running the next start uses the new keys; two rotations keep both old ones retired", async () => {
  const dataDir = temporaryFolder();
  const { claimSecret } = await openSecrets(dataDir);
  const [first] = await keysIn(dataDir);
  expect(await rotate(dataDir)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("No relay is running on this folder"),
  });
  expect((await openSecrets(dataDir)).claimSecret).not.toBe(claimSecret);
  const [second] = await keysIn(dataDir);
  expect(await rotate(dataDir)).toMatchObject({ code: 0 });
  const [third, ...retired] = await keysIn(dataDir);
  expect(retired.map(({ kid, retired }) => [kid, retired !== undefined])).toEqual([
    [second.kid, true],
    [first.kid, true],
  ]);
  expect([first.kid, second.kid]).not.toContain(third.kid);
});

test("keys of which every token has expired are removed by themselves; too many are refused", async () => {
  const dataDir = temporaryFolder();
  const { claimSecret } = await openSecrets(dataDir);
  const [{ d: _, ...half }] = await keysIn(dataDir);
  const retired = (n: number, year: number) => ({
    ...half,
    kid: `old-${n}`,
    retired: `${year}-01-01T00:00:00.000Z`,
  });
  const write = (keys: object[]) => writeFileSync(keysFile(dataDir), JSON.stringify({ keys }));
  const [signing] = await keysIn(dataDir);
  write([signing, retired(1, 2020), retired(2, new Date().getFullYear())]);
  expect(await rotate(dataDir)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("Removed key:  old-1"),
  });
  expect((await keysIn(dataDir)).map(({ kid }) => kid)).toEqual([expect.any(String), signing.kid, "old-2"]);

  const many = Array.from({ length: 16 }, (_, n) => retired(n, new Date().getFullYear()));
  write([signing, ...many]);
  const before = await openSecrets(dataDir);
  expect(await rotate(dataDir)).toMatchObject({ code: 1, stderr: expect.stringContaining("--drop") });
  expect(await openSecrets(dataDir)).toEqual(before);
  expect(before.claimSecret).not.toBe(claimSecret);
});

test.each([
  [["--help"], 0, "Usage: npm run rotate"],
  [["--hepl"], 1, "Usage: npm run rotate"],
  [["now"], 1, "Usage: npm run rotate"],
  [[], 1, "there are no keys to rotate"],
  [["--deployed"], 1, "on the machine that it was deployed from"],
] as const)("%j, where there is no relay: code %i, and nothing is made", async (args, code, words) => {
  const folder = temporaryFolder();
  const { code: ended, stdout, stderr } = await rotate(folder, ...args);
  expect([ended, stdout + stderr]).toEqual([code, expect.stringContaining(words)]);
  expect(readdirSync(folder)).toEqual([]);
});

test("nothing is retired: --drop changes nothing", async () => {
  const dataDir = temporaryFolder();
  const before = await openSecrets(dataDir);
  expect(await rotate(dataDir, "--drop")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("nothing changes"),
  });
  expect(await openSecrets(dataDir)).toEqual(before);
});

test("if Cloudflare can't be told, the files of a deployed relay stay as they are", {
  timeout: 60_000,
}, async () => {
  const dataDir = temporaryFolder();
  const folder = join(dataDir, "cloudflare");
  mkdirSync(folder);
  const before = await openSecrets(folder);
  const { CLOUDFLARE_API_TOKEN: _, CLOUDFLARE_API_KEY: __, ...env } = process.env;
  const { status, stderr } = spawnSync(process.execPath, [ROTATE, "--deployed", "--data", dataDir], {
    env: { ...env, HOME: folder, XDG_CONFIG_HOME: folder },
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([1, expect.stringContaining("The files here are as they were")]);
  expect(await openSecrets(folder)).toEqual(before);
  expect(existsSync(join(folder, "secrets.json"))).toBe(false);
});

test("Cloudflare is sent the new secrets, by wrangler, before the files here change", {
  timeout: 60_000,
}, async () => {
  const dataDir = temporaryFolder();
  const folder = join(dataDir, "cloudflare");
  mkdirSync(folder);
  const before = await openSecrets(folder);
  const requests: { line: string; body: string; atTheTime: string }[] = [];
  const cloudflare = createServer(async (request, response) => {
    const body = await text(request);
    const atTheTime = readFileSync(keysFile(folder), "utf8").trim();
    requests.push({ line: `${request.method} ${request.url}`, body, atTheTime });
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ success: true, errors: [], messages: [], result: {} }));
  });
  await once(cloudflare.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void cloudflare.close());
  const { port } = cloudflare.address() as AddressInfo;
  Object.assign(process.env, {
    CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${port}/client/v4`,
    CLOUDFLARE_API_TOKEN: "test",
    CLOUDFLARE_ACCOUNT_ID: "0".repeat(32),
  });
  onTestFinished(() => {
    for (const name of ["API_BASE_URL", "API_TOKEN", "ACCOUNT_ID"]) delete process.env[`CLOUDFLARE_${name}`];
  });
  const { code, stdout, stderr } = await rotate(dataDir, "--deployed");
  expect([code, stderr]).toEqual([0, expect.stringContaining("Retired key:")]);
  const after = await openSecrets(folder);
  expect(after.claimSecret).not.toBe(before.claimSecret);
  const [sent, ...others] = requests.filter(({ line }) => !line.startsWith("GET "));
  expect(others).toEqual([]);
  expect(sent).toMatchObject({
    line: expect.stringMatching(/^PATCH .*\/scripts\/matrx-relay\/secrets-bulk$/),
    atTheTime: before.relayKeys,
  });
  expect(JSON.parse(sent?.body ?? "")).toMatchObject({
    secrets: { RELAY_KEYS: { text: after.relayKeys }, CLAIM_SECRET: { text: after.claimSecret } },
  });
  const { d } = (await keysIn(folder))[0];
  for (const shown of [stdout, stderr]) expect(shown).not.toContain(d);
  expect(existsSync(join(folder, "secrets.json"))).toBe(false);
});
