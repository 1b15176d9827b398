/** docs/guides/files.md, done as it says; only addresses, ids and folders are this test's own. */
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "../../scripts/tree.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { shell } from "../helpers/launcher.ts";
import { connectMachine } from "../helpers/machine.ts";
import { startRelay } from "../helpers/relay.ts";
import { commandsOf } from "./commands.ts";

const PAGE = readFileSync(join(ROOT, "docs/guides/files.md"), "utf8");
const BASE64 = /(?<=path )[A-Za-z0-9+/]+=*(?=')/;

test("the commands do what they say", { timeout: 120_000 }, async () => {
  const relay = await startRelay();
  onTestFinished(() => relay.stop());
  const machine = await connectMachine(relay);
  onTestFinished(() => machine.agent.stop());
  const [here, there] = [temporaryFolder(), join(realpathSync(temporaryFolder()), "ann")];
  mkdirSync(there);
  const authorization = join(here, "authorization");
  writeFileSync(authorization, `Authorization: Bearer ${await relay.token()}\n`, { mode: 0o600 });
  writeFileSync(join(here, "report.txt"), "figures");
  writeFileSync(join(here, "started.txt"), "fig");
  const type = (command: string) => {
    const path = Buffer.from(command.match(BASE64)?.[0] ?? "", "base64").toString();
    const own = command
      .replace(BASE64, Buffer.from(path.replace("/home/ann", there)).toString("base64"))
      .replaceAll("http://localhost:8787", relay.url)
      .replaceAll(".matrx/authorization", authorization)
      .replaceAll("DEVICE", machine.id)
      .replaceAll("/home/ann", there);
    return shell(`cd '${here}' && ${own}`);
  };
  const [
    store = "",
    absent = "",
    compared = "",
    fetched = "",
    head = "",
    zip = "",
    rest = "",
    tus = "",
    ...others
  ] = commandsOf(PAGE).filter((command) => command.startsWith("curl "));
  expect(others).toEqual([]);
  await type(store);
  expect(readFileSync(join(there, "report.txt"), "utf8")).toBe("figures");
  expect(await type(absent)).toBe("412\n");
  expect(await type(compared)).toBe("204\n");
  await type(fetched);
  expect(await type(head)).toMatch(/^etag: "[0-9a-f]{64}"/im);
  await type(zip);
  await type(rest);
  for (const name of ["fetched.txt", "started.txt"])
    expect(readFileSync(join(here, name), "utf8")).toBe("figures");
  expect(readFileSync(join(here, "ann.zip")).subarray(0, 2).toString()).toBe("PK");
  expect(await type(tus)).toBe("201\n");
  expect(readFileSync(join(there, "small.txt"), "utf8")).toBe("hello");
  expect(readdirSync(there).toSorted()).toEqual(["report.txt", "small.txt"]);
});
