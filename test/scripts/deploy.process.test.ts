import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/tree.ts";
import { temporaryFolder } from "../helpers/folder.ts";

test("a dry run builds Worker and page, uploads nothing, and makes no secrets", { timeout: 60_000 }, () => {
  const dataDir = join(temporaryFolder(), "data");
  const { status, stdout } = spawnSync(process.execPath, [join(ROOT, "scripts/deploy.ts"), "--dry-run"], {
    env: { ...process.env, MATRX_DATA: dataDir, MATRX_URL: "https://relay.example/" },
    encoding: "utf8",
  });
  expect(status).toBe(0);
  expect(stdout).toContain("env.MATRX_URL");
  for (const name of ["DEVICE", "ACCOUNT", "PAIRING", "DIRECTORY", "ASSETS"])
    expect(stdout).toContain(`env.${name}`);
  expect(stdout).toContain("Dry run: nothing was uploaded.");
  expect(existsSync(dataDir)).toBe(false);
});

test("without an account the deployment says what to do first, in plain text", { timeout: 60_000 }, () => {
  const folder = temporaryFolder();
  const { CLOUDFLARE_API_TOKEN: _, CLOUDFLARE_API_KEY: __, ...env } = process.env;
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, "scripts/deploy.ts")], {
    env: { ...env, MATRX_DATA: join(folder, "data"), HOME: folder, XDG_CONFIG_HOME: folder, NO_COLOR: "1" },
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/run `npx wrangler login` first\?/);
  expect(stderr).not.toContain("\u001b");
  expect(existsSync(join(folder, "data"))).toBe(false);
});
