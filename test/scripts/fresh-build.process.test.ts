/** A folder that is built while a program which was begun from the one before still writes there. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildIfChanged } from "../../scripts/fresh-build.ts";
import { temporaryFolder } from "../helpers/folder.ts";

/** An agent that ends writes its compiled code beside its program. */
const WRITER = `
  const { mkdirSync, writeFileSync } = require("node:fs");
  const kept = process.argv[1] + "/.compiled";
  for (let n = 0; ; n++) try {
    mkdirSync(kept, { recursive: true });
    writeFileSync(kept + "/" + (n % 50), "");
    if (n === 50) process.stdout.write("writes");
  } catch {}
`;

test("takes the place of the one before", async () => {
  const place = temporaryFolder();
  const folder = join(place, "agent");
  mkdirSync(folder);
  const writer = spawn(process.execPath, ["-e", WRITER, folder], { stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(writer, "exit");
  onTestFinished(async () => {
    writer.kill("SIGKILL");
    await ended;
  });
  await once(writer.stdout, "data");
  const make = async (aside: string) => {
    mkdirSync(aside);
    writeFileSync(join(aside, "program"), "");
  };
  for (let time = 0; time < 300; time++) {
    rmSync(join(folder, ".sources-sha256"), { force: true });
    await buildIfChanged({ folder, entry: "program", sources: [], make, progress: "" }, () => undefined);
    expect(existsSync(join(folder, "program"))).toBe(true);
  }
});
