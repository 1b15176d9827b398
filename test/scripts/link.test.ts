import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { openSecrets } from "../../scripts/start/secrets.ts";
import { ROOT } from "../../scripts/tree.ts";
import { AUDIENCE } from "../../shared/tokens.ts";
import { temporaryFolder } from "../helpers/folder.ts";

function link(args: string[], dataDir: string) {
  const env = { ...process.env, MATRX_DATA: dataDir };
  return spawnSync(process.execPath, [join(ROOT, "scripts/link.ts"), ...args], { env, encoding: "utf8" });
}

test("no relay runs: said in a sentence", () => {
  const { status, stderr } = link([], temporaryFolder());
  expect(status).toBe(1);
  expect(stderr).toMatch(/^\nNo relay runs on .*npm start/);
});

test("a link for a deployed relay is made with that relay's secret alone", async () => {
  const dataDir = temporaryFolder();
  const folder = join(dataDir, "cloudflare");
  mkdirSync(folder);
  expect(link(["https://relay.example"], dataDir).stderr).toContain("it was deployed from");
  await openSecrets(folder);
  const { stdout } = link(["https://relay.example/anything"], dataDir);
  const [address, code = ""] = stdout.trim().split("#claim=");
  expect(address).toBe("https://relay.example/");
  expect(decodeJwt(code)).toMatchObject({ aud: AUDIENCE.claim, sub: "owner", jti: expect.any(String) });
});

test.each([
  [["--help"], 0],
  [["relay.example"], 1],
  [["--prot"], 1],
  [["https://"], 1],
] as const)("%j tells how the command is used", (args, code) => {
  const { status, stdout, stderr } = link([...args], temporaryFolder());
  expect(status).toBe(code);
  expect(code === 0 ? stdout : stderr).toContain("Usage: npm run link");
});
