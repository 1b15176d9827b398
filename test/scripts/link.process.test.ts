import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { expect, onTestFinished, test } from "vitest";
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
  expect(stderr).toMatch(/^\nNo relay is running on .*npm start/);
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

test("a link for another account names that one, here and for a deployed relay", async () => {
  const dataDir = temporaryFolder();
  mkdirSync(join(dataDir, "cloudflare"));
  await openSecrets(join(dataDir, "cloudflare"));
  const { stdout } = link(["https://relay.example", "--account", "k7m2x9qp4rt1"], dataDir);
  expect(decodeJwt(stdout.trim().split("#claim=")[1] ?? "")).toMatchObject({ sub: "k7m2x9qp4rt1" });
  for (const wrong of ["", "Ann", "a/b", "x".repeat(65)])
    expect(link(["--account", wrong], dataDir)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("is not an account's id"),
    });
});

test("a QR code is shown beside the link, and only a program's part stays on stdout", async () => {
  const dataDir = temporaryFolder();
  mkdirSync(join(dataDir, "cloudflare"));
  await openSecrets(join(dataDir, "cloudflare"));
  const { stdout, stderr } = link(["https://relay.example", "--qr"], dataDir);
  expect(stdout).toMatch(/^https:\/\/relay\.example\/#claim=\S+\n$/);
  expect(stderr.split("\n").filter((line) => /^[ █▀▄]{40,}$/.test(line)).length).toBeGreaterThan(20);
  expect(stderr).not.toContain("Only this machine");
});

test("the relay that runs here is linked to by the address that it was started with", async () => {
  const dataDir = temporaryFolder();
  await openSecrets(dataDir);
  const note = (running: object) => {
    const file = join(dataDir, "start.ts");
    writeFileSync(file, "setInterval(() => undefined, 1000)");
    const launcher = spawn(process.execPath, [file]);
    onTestFinished(() => void launcher.kill());
    writeFileSync(
      join(dataDir, "relay.pid"),
      JSON.stringify({ launcher: launcher.pid, port: 8787, ...running }),
    );
  };
  note({ url: "https://relay.example" });
  expect(link([], dataDir).stdout).toMatch(/^https:\/\/relay\.example\/#claim=/);
  expect(link(["https://relay.example/"], dataDir).stdout).toMatch(/^https:\/\/relay\.example\/#claim=/);
  expect(link(["https://other.example"], dataDir).stderr).toContain("MATRX_URL=https://other.example");
  note({});
  const { stdout, stderr } = link(["--qr"], dataDir);
  expect(stdout).toMatch(/^http:\/\/localhost:8787\/#claim=/);
  expect(stderr).toContain("Only this machine can reach that address");
});

test.each([
  [["--help"], 0],
  [["relay.example"], 1],
  [["--prot"], 1],
  [["https://"], 1],
  [["https://relay.example", "https://other.example"], 1],
] as const)("%j tells how the command is used", (args, code) => {
  const { status, stdout, stderr } = link([...args], temporaryFolder());
  expect(status).toBe(code);
  expect(code === 0 ? stdout : stderr).toContain("Usage: npm run link");
});
