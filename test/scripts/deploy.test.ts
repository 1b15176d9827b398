import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/tree.ts";
import { temporaryFolder } from "../helpers/folder.ts";

test("a dry run builds Worker and page, uploads nothing, and makes no secrets", { timeout: 60_000 }, () => {
  const dataDir = join(temporaryFolder(), "data");
  const { status, stdout } = spawnSync(process.execPath, [join(ROOT, "scripts/deploy.ts"), "--dry-run"], {
    env: { ...process.env, MATRX_DATA: dataDir },
    encoding: "utf8",
  });
  expect(status).toBe(0);
  for (const name of ["DEVICE", "ACCOUNT", "PAIRING", "DIRECTORY", "ASSETS"])
    expect(stdout).toContain(`env.${name}`);
  expect(stdout).toContain("Dry run: nothing was uploaded.");
  expect(existsSync(dataDir)).toBe(false);
});
