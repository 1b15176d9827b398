/** Clients that others' generators make from the relay's description: whole, and they call a real machine. */
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../scripts/tree.ts";
import { makeFolder, removeFolder, temporaryFolder } from "../helpers/folder.ts";
import { connectMachine, type Machine } from "../helpers/machine.ts";
import { needs } from "../helpers/parts.ts";
import { pythonProgram } from "../helpers/python-program.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";

const run = promisify(execFile);
const TIMEOUT = { timeout: 120_000 };

const PYTHON = await pythonProgram("openapi-python-client", "0.29.1");

/** Apart from the project's packages: the generator wants another TypeScript than they do. */
const PACKAGES = [
  "openapi-typescript@7.13.0",
  "openapi-fetch@0.17.0",
  "typescript@5.9.3",
  "@types/node@24.10.0",
];
const NODE_PLACE = join(ROOT, "node_modules/.cache/openapi-typescript-7.13.0");
const HAS_GENERATOR = needs(
  await installed(),
  `generating a client needs npm's registry: ${PACKAGES.join(" ")}`,
);

let relay: TestRelay;
let machine: Machine;
let folder: string;
let token: string;

beforeAll(async () => {
  relay = await startRelay();
  machine = await connectMachine(relay);
  token = await relay.token("read");
  folder = makeFolder();
  writeFileSync(join(folder, "openapi.json"), await (await fetch(`${relay.url}/openapi.json`)).text());
  writeFileSync(join(folder, "greeting"), "hello\n");
});

afterAll(async () => {
  await machine.agent.stop();
  await relay.stop();
  removeFolder(folder);
});

function expectAll(output: string): void {
  expect(JSON.parse(output)).toEqual({
    devices: [machine.id],
    called: ["success", expect.stringContaining("hello")],
    invoked: ["success", expect.stringContaining("hello")],
    refused: [404, "TOOL_NOT_FOUND", "relay"],
  });
}

const call = () => [relay.url, token, machine.id, join(folder, "greeting")];

describe("a client in Python", PYTHON.options, () => {
  test("has every operation, and calls", TIMEOUT, async () => {
    const place = temporaryFolder();
    writeFileSync(join(place, "config.yaml"), "post_hooks: []\n");
    // A warning is about what the generator could not make and left out.
    const options = ["--meta", "none", "--fail-on-warning", "--config", join(place, "config.yaml")];
    const paths = ["--path", join(folder, "openapi.json"), "--output-path", join(place, "relay_client")];
    await run(PYTHON.program, ["generate", ...options, ...paths]);
    copyFileSync(join(import.meta.dirname, "client.py"), join(place, "client.py"));
    const { stdout } = await run(PYTHON.python, [join(place, "client.py"), ...call()]);
    expectAll(stdout);
  });
});

describe("a client in TypeScript", HAS_GENERATOR, () => {
  test("is right under strict, and calls", TIMEOUT, async () => {
    const place = temporaryFolder();
    const program = (name: string) => join(NODE_PLACE, "node_modules/.bin", name);
    symlinkSync(join(NODE_PLACE, "node_modules"), join(place, "node_modules"));
    await run(program("openapi-typescript"), [
      join(folder, "openapi.json"),
      "-o",
      join(place, "schema.d.ts"),
    ]);
    copyFileSync(join(import.meta.dirname, "client.ts"), join(place, "client.ts"));
    writeFileSync(join(place, "package.json"), '{"type":"module"}');
    const strict = ["--strict", "--noEmit", "--allowImportingTsExtensions", "--skipLibCheck"];
    const modules = ["--module", "nodenext", "--target", "es2024", "--types", "node"];
    await run(program("tsc"), [...strict, ...modules, "client.ts"], { cwd: place });
    const { stdout } = await run(process.execPath, [join(place, "client.ts"), ...call()]);
    expectAll(stdout);
  });
});

/** Installs the generator, unless that was done before; false: there is no registry. */
async function installed(): Promise<boolean> {
  if (existsSync(join(NODE_PLACE, "installed"))) return true;
  try {
    mkdirSync(NODE_PLACE, { recursive: true });
    writeFileSync(join(NODE_PLACE, "package.json"), "{}");
    const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-workspaces"];
    await run("npm", ["install", ...options, ...PACKAGES], { cwd: NODE_PLACE, timeout: 180_000 });
    writeFileSync(join(NODE_PLACE, "installed"), "");
    return true;
  } catch {
    rmSync(NODE_PLACE, { recursive: true, force: true });
    return false;
  }
}
