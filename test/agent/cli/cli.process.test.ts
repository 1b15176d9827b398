import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fitted } from "../../../agent/cli/output/progress.ts";
import { makeProgram, withChildren } from "../../../agent/cli/program.ts";
import { MATRX_BIN } from "../../../scripts/matrx-bin.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { needsRare } from "../../helpers/parts.ts";
import { endOf, lineOf, runMatrx, startMatrx } from "./matrx.ts";

/** Groups of commands, and what writes files or text for other programs. */
const WITHOUT_JSON = ["cloud", "audit", "audit export", "completion", "share", "token"];

test("every command explains itself with examples, and knows --json and --quiet", async () => {
  const [program, ...commands] = withChildren(await makeProgram());
  expect(commands.length).toBeGreaterThan(25);
  for (const command of commands.filter((one) => one.name() !== "complete")) {
    const printed: string[] = [];
    command.configureOutput({ writeOut: (text) => printed.push(text) }).outputHelp();
    const help = printed.join("");
    const name = `${command.parent === program ? "" : command.parent?.name()} ${command.name()}`.trim();
    expect(help, name).toMatch(/Examples?:\n {2}(.*\| )?matrx /);
    expect(help, name).toContain("--quiet");
    if (!WITHOUT_JSON.includes(name)) expect(help, name).toContain("--json");
  }
});

test.each([
  [["devcies"], 64, /Did you mean devices/],
  [["help", "cal"], 64, /^error: unknown command 'cal'\n\(Did you mean call\?\)\n\(see .*--help\)\n$/],
  [["cal", "--help"], 64, /^error: unknown command 'cal'\n\(Did you mean call\?\)/],
  [["help", "nothing-like-it"], 64, /^error: unknown command 'nothing-like-it'\n\(see /],
  [
    ["--quiet", "devices", "renam"],
    64,
    /'--quiet'\n\(options follow the command: .*matrx devices --quiet renam\)/,
  ],
  [["devices", "renam"], 64, /unknown command 'renam'\n\(Did you mean rename\?\)\n\(see /],
  [["ls", "laptop"], 64, /unknown command 'laptop'\n\(see /],
  [["call"], 64, /No tool given/],
  [["call", "bash", "ls -la"], 64, /bash is a tool[\s\S]*key=value/],
  [["outcome"], 64, /No call given/],
  [["token"], 64, /matrx token create/],
  [["up"], 68, /not paired yet[\s\S]*matrx up/],
  [["devices"], 64, /No relay given[\s\S]*matrx login remembers/],
  [["devices", "--relay", "ftp://x"], 64, /must be an http\(s\) URL/],
  [["devices", "--relay", "localhost:8787"], 64, /Use an address like http:\/\/localhost:8787/],
  [["devices", "--relay", "http://relay.example"], 64, /must begin with https/],
  [["devices", "--relay", "http://localhost:9"], 77, /Not signed in[\s\S]*matrx login/],
  [
    ["devices", "--relay", "http://localhost:9", "--token-file", "/nonexistent"],
    64,
    /The file .* does not exist/,
  ],
  [["pair", "--relay", "http://localhost:9"], 64, /--yes/],
  [["up", "--relay", "http://localhost:9", "--yes"], 69, /Can't reach the relay/],
  [["pair", "--relay", "http://localhost:9", "--yes"], 69, /Can't reach the relay/],
  [["serve", "--host", "0.0.0.0"], 64, /other machines could reach/],
  [["serve", "--port", "99999"], 64, /is not a port/],
  [["serve", "--allow-origin", "https://a.example/path"], 64, /is not an origin/],
])("wrong use is said plainly: %j", async (args, code, says) => {
  const ended = await runMatrx(args, { home: temporaryFolder() });
  expect(ended).toMatchObject({ code, stdout: "" });
  expect(ended.stderr).toMatch(says);
  expect(ended.stderr).not.toMatch(/\n\s+at /);
  expect(ended.stderr).not.toContain("\u001b");
});

test("what people type by habit is a command, and two that look alike say what sets them apart", async () => {
  const { commands } = await makeProgram();
  const named = (word: string) => commands.find((one) => one.name() === word || one.aliases().includes(word));
  expect([named("ls")?.name(), named("ps")?.name()]).toEqual(["devices", "calls"]);
  expect(named("status")?.description()).toMatch(/^can you reach a device/);
  expect(named("doctor")?.description()).toMatch(/^is this machine set up/);
});

test("https to a relay that speaks http is said, without OpenSSL's words", async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const relay = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, stderr } = await runMatrx(["login", "--relay", relay], { home: temporaryFolder() });
  expect(code).toBe(69);
  expect(stderr).toMatch(/^Error: .*doesn't speak TLS: use http:\/\//);
});

test("a line of progress stays one line", () => {
  expect(fitted("Waiting", " ... 7 s", 80)).toBe("Waiting ... 7 s");
  expect(fitted("Waiting for you", " ... 100 s", 20)).toBe("Waiting f ... 100 s");
  expect(fitted("Waiting", " ... 7 s", 5)).toBe(" ... 7 s");
});

test(
  "output that cannot be written is no success",
  needsRare(existsSync("/dev/full"), "an output that cannot be written needs /dev/full"),
  async () => {
    for (const command of ["help", "completion bash"]) {
      const full = spawnSync("sh", ["-c", `'${process.execPath}' '${MATRX_BIN}' ${command} > /dev/full`], {
        encoding: "utf8",
      });
      expect(full.status, command).toBe(74);
      expect(full.stderr).toMatch(/^Error: The output cannot be written \(ENOSPC\)\n.*incomplete/);
    }
  },
);

test("an option before the command is refused with the line that works", async () => {
  const { code, stdout, stderr } = await runMatrx(["--json", "devices"], { home: temporaryFolder() });
  expect(code).toBe(64);
  expect(stderr).toMatch(
    /^error: unknown option '--json'\n\(options follow the command: .*matrx devices --json\)/,
  );
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "INVALID_PARAMETERS", hop: "caller" } });
});

test("with --json an error is one object on stdout too", async () => {
  const { stdout, code } = await runMatrx(["devices", "--json"], { home: temporaryFolder() });
  expect(code).toBe(64);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "INVALID_PARAMETERS", hop: "caller" } });
});

test("a configuration error names the key", async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "config.json"), '{"relay":"nowhere","device_id":"x","name":"x"}');
  const { code, stderr } = await runMatrx(["up"], { home });
  expect(code).toBe(64);
  expect(stderr).toContain("config.json: relay: must be an http(s) URL");
});

test("a folder that cannot be written is said in a sentence", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "");
  const { code, stderr } = await runMatrx(["serve", "--port", "0"], { home: join(folder, "file", "home") });
  expect(code).toBe(69);
  expect(stderr).toMatch(/cannot be (created|written)/);
});

test("serve serves until it is told to stop, and its token file is this user's alone", async () => {
  const home = temporaryFolder();
  mkdirSync(home, { recursive: true });
  const server = startMatrx(["serve", "--port", "0", "--json"], { home });
  const { url, token_file } = await lineOf(server, () => true);
  expect(statSync(String(token_file)).mode & 0o077).toBe(0);
  expect((await fetch(`${url}/tools/list`)).status).toBe(401);
  expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: "ok" });
  const ended = endOf(server);
  server.kill("SIGTERM");
  expect((await ended).code).toBe(0);
});
