/** `npm start` builds the web app before it starts the agent, whose commands inherit its environment. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bundleByVite } from "../../scripts/vite-bundle.ts";
import { temporaryFolder } from "../helpers/folder.ts";

test("a build leaves the environment as it was", async () => {
  const folder = temporaryFolder();
  const input = join(folder, "main.js");
  writeFileSync(input, "export const one = 1;");
  const before = { ...process.env };
  await bundleByVite({ outDir: join(folder, "out"), copyPublicDir: false, rolldownOptions: { input } });
  expect({ ...process.env }).toEqual(before);
});
