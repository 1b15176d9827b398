/** docs/guides/lost.md, done as it says: with a real relay, its agent, and people who lose things. */
import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { exportJWK, generateKeyPair } from "jose";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { MATRX_BIN } from "../../scripts/matrx-bin.ts";
import { makeClaimCode } from "../../scripts/start/claim.ts";
import { type Credential, makeToken, request, signIn } from "../../scripts/start/owner.ts";
import { openSecrets } from "../../scripts/start/secrets.ts";
import { ROOT } from "../../scripts/tree.ts";
import { deviceListSchema } from "../../shared/api.ts";
import { recoveryCodesSchema } from "../../shared/recovery-code.ts";
import { signedInSchema } from "../../shared/session-api.ts";
import { createdTokenSchema } from "../../shared/token-api.ts";
import { endOf, lineOf, startMatrx } from "../agent/cli/matrx.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { type Launcher, launch, shell, until } from "../helpers/launcher.ts";
import { commandsOf } from "./commands.ts";

const PAGE = readFileSync(join(ROOT, "docs/guides/lost.md"), "utf8");
const PHONE = "Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 Chrome/146.0.0.0 Mobile Safari/537.36";
const TIME = 240_000;

/** The commands of the section with this title. */
function commandsUnder(title: string): string[] {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? "";
  return commandsOf(section);
}

describe("with a relay of npm start", { timeout: TIME }, () => {
  let folder: string;
  let dataDir: string;
  let launcher: Launcher;
  let url: string;

  beforeEach(async () => {
    folder = temporaryFolder();
    dataDir = join(folder, ".matrx");
    await start("0");
  }, TIME);
  afterEach(() => stop(), TIME);

  async function start(port: string): Promise<void> {
    launcher = launch(dataDir, ["--port", port]);
    url = new URL((await launcher.curlLine()).split(" ").at(-1) ?? "").origin;
  }

  async function stop(): Promise<void> {
    launcher.process.kill("SIGINT");
    expect(await launcher.exit).toBe(0);
  }

  /** Types a command as it stands on the page, for this relay. */
  function type(command: string): Promise<string> {
    const matrx = `npx() { shift; MATRX_HOME='${folder}/home' NO_COLOR=1 '${process.execPath}' '${MATRX_BIN}' "$@"; }`;
    const npm = `npm() { script=$2; shift 2; [ "$1" != -- ] || shift; MATRX_DATA='${dataDir}' '${process.execPath}' "${ROOT}/scripts/$script.ts" "$@"; }`;
    return shell(`cd '${folder}'; exec < /dev/null\n${matrx}\n${npm}\n${command}`);
  }

  async function ownSession(): Promise<Credential> {
    const { claimSecret } = await openSecrets(dataDir);
    return signIn({ url, claimCode: () => makeClaimCode(claimSecret) });
  }

  /** A browser that signs in by one of the routes for it; answers with the status, and what it may do then. */
  async function browser(path: string, body: object, userAgent = PHONE) {
    const { publicKey } = await generateKeyPair("ES256");
    const { kty, crv, x, y } = await exportJWK(publicKey);
    const response = await fetch(url + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", Origin: url, "User-Agent": userAgent },
      body: JSON.stringify({ ...body, key: { kty, crv, x, y } }),
    });
    const answer: unknown = await response.json();
    return { status: response.status, token: signedInSchema.safeParse(answer).data?.access_token ?? "" };
  }

  const codeOf = (link: string) => link.trim().split("#claim=")[1] ?? "";

  async function statusOf(token: string): Promise<number> {
    const response = await fetch(`${url}/v1/account`, { headers: { Authorization: `Bearer ${token}` } });
    await response.arrayBuffer();
    return response.status;
  }

  /** `matrx login` or `matrx pair`, which a signed-in person confirms. */
  async function confirmed(owner: Credential, home: string, ...args: string[]): Promise<object> {
    const child = startMatrx([...args, "--json"], { home });
    const ended = endOf(child);
    const { code } = z.object({ code: z.string() }).parse(await lineOf(child, () => true));
    await request({ url }, owner, `POST /v1/pairings/${code}/confirm`, z.unknown(), {});
    const { code: exit, stdout, stderr } = await ended;
    expect([exit, stderr]).toEqual([0, expect.any(String)]);
    return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as object;
  }

  async function deviceIds(owner: Credential): Promise<string[]> {
    return (await request({ url }, owner, "GET /v1/devices", deviceListSchema)).devices.map(({ id }) => id);
  }

  test("a lost phone is signed out from the command line, or by a recovery code", async () => {
    const owner = await ownSession();
    await confirmed(owner, join(folder, "home"), "login", "--relay", url);
    const { codes } = await request({ url }, owner, "POST /v1/recovery-codes", recoveryCodesSchema);
    const { claimSecret } = await openSecrets(dataDir);
    const lost = await browser("/v1/claim", { code: await makeClaimCode(claimSecret) });
    expect(await statusOf(lost.token)).toBe(200);

    const [list = "", revoke = "", ...others] = commandsUnder("A lost phone");
    expect(others).toEqual([]);
    expect(await type(list)).toMatch(/^Chrome on Android /m);
    expect(await type(revoke)).toMatch(/^Revoked Chrome on Android/);
    expect(await statusOf(lost.token)).toBe(401);

    const [code = ""] = codes;
    const back = await browser("/v1/sign-in/recovery", { code }, "Firefox/140.0 (X11; Linux x86_64)");
    expect([back.status, await statusOf(back.token)]).toEqual([200, 200]);
    expect((await browser("/v1/sign-in/recovery", { code })).status).toBe(401);
    await request({ url }, { token: back.token }, "POST /v1/sessions/revoke-others", z.unknown(), {});
    expect([await statusOf(owner.token), await statusOf(back.token)]).toEqual([401, 200]);
    await expect(type(list)).rejects.toThrow("was revoked or has expired");
  });

  test("without passkey and code, the relay's machine prints a link; for others too, if they exist", async () => {
    const [own = "", deployed = "", other = ""] = commandsUnder("The last passkey, and no recovery code");
    const code = codeOf(await type(own));
    expect((await browser("/v1/claim", { code })).status).toBe(200);
    expect((await browser("/v1/claim", { code })).status).toBe(401);
    mkdirSync(join(dataDir, "cloudflare"));
    await openSecrets(join(dataDir, "cloudflare"));
    expect(await type(deployed)).toMatch(/^https:\/\/relay\.example\/#claim=/);
    const linkFor = async (account: string) => codeOf(await type(other.replace("ACCOUNT", account)));
    expect((await browser("/v1/claim", { code: await linkFor("owner") })).status).toBe(200);
    expect((await browser("/v1/claim", { code: await linkFor("misspelt") })).status).toBe(401);
  });

  test("leaked keys are replaced, and then dropped", async () => {
    const [rotate = "", drop = "", ...others] = commandsUnder("The relay's keys leaked");
    expect(others).toEqual([]);
    const owner = await ownSession();
    const script = await makeToken({ url } as never, owner, { name: "backup", credential: "script" });
    const link = await type("npm run link");
    expect(await type(rotate)).toContain("revoke tokens");
    expect(await statusOf(script)).toBe(200);
    expect(await statusOf(owner.token)).toBe(401);
    expect((await browser("/v1/claim", { code: codeOf(link) })).status).toBe(401);
    await until("the machine is back", async () => {
      const { devices } = await request({ url }, { token: script }, "GET /v1/devices", deviceListSchema);
      return devices[0]?.state === "ONLINE";
    });
    expect(await type(drop)).toContain("npm run link");
    expect(await statusOf(script)).toBe(401);
    expect((await browser("/v1/claim", { code: codeOf(await type("npm run link")) })).status).toBe(200);
  });

  test("a restored copy refuses what came after it, and brings back what was revoked", async () => {
    let owner = await ownSession();
    const make = async (name: string) => {
      const wish = { name, credential: "script" };
      return request({ url }, owner, "POST /v1/tokens", createdTokenSchema, wish);
    };
    const [kept, revoked] = [await make("kept"), await make("revoked")];
    const removed = (await confirmed(owner, join(folder, "removed"), "pair", "--relay", url, "--yes")) as {
      device_id: string;
    };
    const link = await type("npm run link");
    const { port } = new URL(url);
    await stop();
    cpSync(dataDir, join(folder, "copy"), { recursive: true });
    await start(port);

    owner = await ownSession();
    const later = await make("later");
    const homeOfLater = join(folder, "later");
    await confirmed(owner, homeOfLater, "pair", "--relay", url, "--yes");
    for (const line of [`tokens/${revoked.id}`, `devices/${removed.device_id}`] as const)
      await request({ url }, owner, `DELETE /v1/${line}`, z.unknown());
    expect((await browser("/v1/claim", { code: codeOf(link) })).status).toBe(200);
    expect(await statusOf(revoked.token)).toBe(401);
    await stop();
    rmSync(dataDir, { recursive: true });
    cpSync(join(folder, "copy"), dataDir, { recursive: true });
    await start(port);

    expect([await statusOf(kept.token), await statusOf(revoked.token), await statusOf(later.token)]).toEqual([
      200, 200, 401,
    ]);
    expect(await statusOf(owner.token)).toBe(401);
    const script = { token: kept.token };
    expect(await deviceIds(script)).toContain(removed.device_id);
    expect(await deviceIds(script)).toHaveLength(2);
    owner = await ownSession();
    await confirmed(owner, homeOfLater, "pair", "--relay", url, "--yes", "--replace");
    expect(await deviceIds(script)).toHaveLength(3);

    const [rotate = "", drop = ""] = commandsUnder("The relay's data, from a backup");
    expect(await type(rotate)).toContain("revoke tokens");
    expect((await browser("/v1/claim", { code: codeOf(link) })).status).toBe(401);
    expect(await statusOf(revoked.token)).toBe(200);
    await type(drop);
    expect([await statusOf(kept.token), await statusOf(revoked.token)]).toEqual([401, 401]);
  });
});

test("each command of the page is typed above", () => {
  expect(commandsOf(PAGE)).toHaveLength(9);
});
