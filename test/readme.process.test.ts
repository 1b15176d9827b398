import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "../scripts/tree.ts";
import { temporaryFolder } from "./helpers/folder.ts";
import { connectMachine } from "./helpers/machine.ts";
import { startRelay } from "./helpers/relay.ts";

const README = readFileSync(join(ROOT, "README.md"), "utf8");

test("every path of the file map is there", () => {
  const paths = [...README.matchAll(/^\| `([^`]+)` \|/gm)].map(([, path = ""]) => path);
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("every link leads to a file", () => {
  const links = [...README.matchAll(/\]\((?!http)([^)]+)\)/g)].map(([, path = ""]) => path);
  expect(links.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("the WebSocket example runs, and says it when the relay refuses", { timeout: 60_000 }, async () => {
  const relay = await startRelay();
  onTestFinished(() => relay.stop());
  const machine = await connectMachine(relay);
  onTestFinished(() => machine.agent.stop());
  const folder = temporaryFolder();
  const script = README.match(/```js\n([\s\S]*?)```/)?.[1] ?? "";
  writeFileSync(join(folder, "authorization"), `Authorization: Bearer ${await relay.token()}\n`);
  writeFileSync(join(folder, "first-call.mjs"), script);
  const env = { ...process.env, MATRX_DATA: folder };

  const args = ["first-call.mjs", machine.id, relay.url.replace("http", "ws")];
  const child = spawn(process.execPath, args, { cwd: folder, env });
  expect(await text(child.stdout)).toMatch(/^success Linux|^success Darwin/);

  const wrong = spawn(process.execPath, ["first-call.mjs", "DEVICE", args[2] ?? ""], { cwd: folder, env });
  const exit = new Promise((resolve) => wrong.once("close", resolve));
  expect(await text(wrong.stderr)).toMatch(/^The relay did not accept the connection: .*the device's id/);
  expect(await exit).toBe(1);
});
