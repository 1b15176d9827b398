import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { makeClaimCode } from "../../scripts/start/claim.ts";
import { type Credential, request, signIn } from "../../scripts/start/owner.ts";
import { isAlive } from "../../scripts/start/process.ts";
import { openSecrets } from "../../scripts/start/secrets.ts";
import { ROOT } from "../../scripts/tree.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { launch, personsEnvironment, pidsOn, START, shell, until, watch } from "../helpers/launcher.ts";

const TIME = 60_000;

function folderWithSpace(): string {
  return join(temporaryFolder(), "my relay");
}

/** The device that a curl line asks. */
function deviceOf(line: string): string | undefined {
  return line.match(/\/v1\/devices\/([^/]+)\//)?.[1];
}

/** The owner of a relay that a launcher started, signed in. */
async function ownerOf(dataDir: string, curlLine: string) {
  const url = new URL(curlLine.split(" ").at(-1) ?? "").origin;
  const { claimSecret } = await openSecrets(dataDir);
  return { url, owner: await signIn({ url, claimCode: () => makeClaimCode(claimSecret) }) };
}

/** What the relay answers to the code of a sign-in link. */
/** Follows a sign-in link. */
async function signInBy(link: string): Promise<Credential> {
  const [url = "", code = ""] = link.trim().split("/#claim=");
  return signIn({ url, claimCode: async () => code });
}

test("the printed line works in a shell, and after Ctrl-C no process is left", {
  timeout: TIME,
}, async () => {
  const dataDir = folderWithSpace();
  const launcher = launch(dataDir);
  const line = await launcher.curlLine();
  expect(JSON.parse(await shell(line))).toMatchObject({ type: "success", device: deviceOf(line) });
  expect(launcher.output()).toMatch(/Address +http:\/\/localhost:\d+\n/);
  expect(launcher.output()).toMatch(/Sign in +http:\/\/localhost:\d+\/#claim=\S+\n/);
  expect(launcher.output().match(/^curl /gm)).toHaveLength(1);

  const link = await shell(`"${process.execPath}" "${join(ROOT, "scripts/link.ts")}" --data "${dataDir}"`);
  expect(await signInBy(link)).toHaveProperty("token");

  const pids = pidsOn(dataDir);
  expect(pids).toHaveLength(3);
  launcher.process.kill("SIGINT");
  expect(await launcher.exit).toBe(0);
  expect(pids.filter(isAlive)).toEqual([]);
  expect(existsSync(join(dataDir, "relay.pid"))).toBe(false);
});

test("MATRX_URL is where the printed links lead, and those of `npm run link`; the environment's proxy is not for this machine", {
  timeout: TIME,
}, async () => {
  const dataDir = folderWithSpace();
  const proxy = "http://127.0.0.1:9";
  const env = {
    ...{ ...personsEnvironment(), MATRX_URL: "https://relay.example/" },
    ...{ HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NODE_USE_ENV_PROXY: "1" },
  };
  const launcher = watch(
    spawn(process.execPath, [START, "--data", dataDir, "--port", "0"], { env }),
    dataDir,
  );
  const line = await launcher.curlLine();
  expect(JSON.parse(await shell(line))).toMatchObject({ type: "success" });
  expect(launcher.output()).toMatch(
    /Address +https:\/\/relay\.example\n +http:\/\/localhost:\d+ on this machine\n/,
  );
  expect(launcher.output()).toMatch(/Sign in +https:\/\/relay\.example\/#claim=\S+\n/);
  const link = await shell(`"${process.execPath}" "${join(ROOT, "scripts/link.ts")}" --data "${dataDir}"`);
  expect(link).toMatch(/^https:\/\/relay\.example\/#claim=\S+\n$/);
});

test("a second start keeps device, account and token, on another port too", { timeout: TIME }, async () => {
  const dataDir = folderWithSpace();
  const state = () =>
    ["keys.json", "claim-secret", "authorization", "agent/key"].map((name) =>
      readFileSync(join(dataDir, name), "utf8"),
    );
  const first = launch(dataDir);
  const firstLine = await first.curlLine();
  first.process.kill("SIGTERM");
  expect(await first.exit).toBe(0);
  const before = state();

  const second = launch(dataDir);
  const line = await second.curlLine();
  expect(deviceOf(line)).toBe(deviceOf(firstLine));
  expect(JSON.parse(await shell(line))).toMatchObject({ type: "success" });
  expect(state()).toEqual(before);
  expect(second.output()).not.toMatch(/Pairing|token/);
});

test("secrets stand in no list of processes, and only their owner may read them", {
  timeout: TIME,
}, async () => {
  const dataDir = folderWithSpace();
  const launcher = launch(dataDir);
  await launcher.curlLine();
  const token = readFileSync(join(dataDir, "authorization"), "utf8").trim().split(" ").at(-1) ?? "";
  const claimSecret = readFileSync(join(dataDir, "claim-secret"), "utf8").trim();
  const processes = execFileSync("ps", ["axww", "-o", "args="], { encoding: "utf8" });
  for (const secret of [token, claimSecret]) expect(processes).not.toContain(secret);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  for (const name of ["authorization", "keys.json", "claim-secret", "relay.log", "agent.log"]) {
    expect([name, statSync(join(dataDir, name)).mode & 0o777]).toEqual([name, 0o600]);
  }
});

test("no tool reads the relay's data, not even the owner's", { timeout: TIME }, async () => {
  const dataDir = folderWithSpace();
  const launcher = launch(dataDir);
  const line = await launcher.curlLine();
  for (const name of ["keys.json", "claim-secret", "authorization", "objects"]) {
    const input = JSON.stringify({ file_path: join(dataDir, name) });
    const answer = await shell(line.replace("'{}'", `'${input}'`).replace(/SystemInfo$/, "Read"));
    expect([name, JSON.parse(answer)]).toMatchObject([name, { code: "PERMISSION_DENIED", hop: "tool" }]);
  }
});

test("relay and agent come back when they die", { timeout: TIME }, async () => {
  const dataDir = folderWithSpace();
  const launcher = launch(dataDir);
  const line = await launcher.curlLine();
  const answers = async () => (await shell(`${line} || true`)).includes('"type":"success"');
  for (const at of [1, 2]) {
    const victim = pidsOn(dataDir)[at] ?? 0;
    process.kill(victim, "SIGKILL");
    await until("another process id is noted", () => pidsOn(dataDir)[at] !== victim);
    await until("the device answers again", answers, 20_000);
  }
  expect(launcher.output()).toMatch(/relay ended by SIGKILL\. Restarting it/);
  expect(launcher.output()).toMatch(/agent ended by SIGKILL\. Restarting it/);
});

test("when the parent is killed, all of it stops", { timeout: TIME }, async () => {
  const dataDir = folderWithSpace();
  const script = '"$0" "$1" --port 0 --data "$2" & wait';
  const env = personsEnvironment();
  const parent = spawn("sh", ["-c", script, process.execPath, START, dataDir], { env });
  const launcher = watch(parent, dataDir);
  await launcher.curlLine();
  const pids = pidsOn(dataDir);
  parent.kill("SIGKILL");
  await until("nothing of it lives", () => !pids.some(isAlive));
});

test("a start after kill -9 of the launcher ends what was left, and keeps everything", {
  timeout: TIME,
}, async () => {
  const dataDir = folderWithSpace();
  const first = launch(dataDir);
  const firstLine = await first.curlLine();
  const left = pidsOn(dataDir).slice(1);
  first.process.kill("SIGKILL");
  await first.exit;
  expect(left.filter(isAlive)).toEqual(left);

  const second = launch(dataDir);
  expect(deviceOf(await second.curlLine())).toBe(deviceOf(firstLine));
  expect(left.filter(isAlive)).toEqual([]);
});

test("a damaged token is replaced, and that is said", { timeout: TIME }, async () => {
  const dataDir = folderWithSpace();
  const first = launch(dataDir);
  const firstLine = await first.curlLine();
  first.process.kill("SIGINT");
  await first.exit;
  writeFileSync(join(dataDir, "authorization"), "Authorization: Bearer garbage\n");

  const second = launch(dataDir);
  const line = await second.curlLine();
  expect(second.output()).toMatch(/saved token is damaged.*creating a new one/);
  expect(deviceOf(line)).toBe(deviceOf(firstLine));
  expect(JSON.parse(await shell(line))).toMatchObject({ type: "success" });
});

test("a damaged agent configuration is said, nothing is deleted, and nothing is left running", {
  timeout: TIME,
}, async () => {
  const dataDir = folderWithSpace();
  const first = launch(dataDir);
  await first.curlLine();
  first.process.kill("SIGINT");
  await first.exit;
  const file = join(dataDir, "agent/config.json");
  writeFileSync(file, '{"relay":');

  const second = launch(dataDir);
  expect(await second.exit).toBe(1);
  expect(second.output()).toMatch(/agent can't read its files \(config\.json: is not JSON\)/);
  expect(readFileSync(file, "utf8")).toBe('{"relay":');
  expect(existsSync(join(dataDir, "relay.pid"))).toBe(false);
});

test("a machine that was removed is told so, and the next start adds it anew", {
  timeout: TIME,
}, async () => {
  const dataDir = folderWithSpace();
  const first = launch(dataDir);
  const line = await first.curlLine();
  const { url, owner } = await ownerOf(dataDir, line);
  await request({ url }, owner, `DELETE /v1/devices/${deviceOf(line)}`, z.unknown());
  await until("it is said", () => first.output().includes("This machine was removed from the account"));
  first.process.kill("SIGINT");
  expect(await first.exit).toBe(0);

  const second = launch(dataDir);
  const newLine = await second.curlLine();
  expect(second.output()).toMatch(/was removed from the account.*policy.*Pairing it again/);
  expect(deviceOf(newLine)).not.toBe(deviceOf(line));
  expect(JSON.parse(await shell(newLine))).toMatchObject({ type: "success" });
});

test("an agent that a person stops stays stopped, is told, and comes back with the next start", {
  timeout: TIME,
}, async () => {
  const dataDir = folderWithSpace();
  const first = launch(dataDir);
  const line = await first.curlLine();
  const { url, owner } = await ownerOf(dataDir, line);
  const command = (name: string) =>
    request({ url }, owner, `POST /v1/devices/${deviceOf(line)}/commands`, z.unknown(), { command: name });
  const agent = pidsOn(dataDir)[2] ?? 0;
  await command("restart_client");
  await until("it answers again", async () => (await shell(`${line} || true`)).includes('"type":"success"'));
  expect(pidsOn(dataDir)[2]).toBe(agent);
  await command("shutdown");
  await until("it is said", () => first.output().includes("This machine's agent was asked to stop"));
  expect(first.output()).not.toContain("Restarting it");
  expect(isAlive(agent)).toBe(false);
  await expect(command("shutdown")).rejects.toThrow("not connected");
  first.process.kill("SIGINT");
  expect(await first.exit).toBe(0);

  const second = launch(dataDir);
  expect(JSON.parse(await shell(await second.curlLine()))).toMatchObject({ type: "success" });
});

test("a second launcher on the folder is refused with the first one's address", {
  timeout: TIME,
}, async () => {
  const dataDir = folderWithSpace();
  const first = launch(dataDir);
  const line = await first.curlLine();
  const second = launch(dataDir);
  expect(await second.exit).toBe(1);
  expect(second.output()).toMatch(/already running on .* at http:\/\/localhost:\d+/);
  expect(JSON.parse(await shell(line))).toMatchObject({ type: "success" });
});

test("a port in use is said in one sentence", async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(Number(Object(server.address()).port)));
  });
  const launcher = launch(folderWithSpace(), ["--port", String(port)]);
  expect(await launcher.exit).toBe(1);
  expect(lastLine(launcher.output())).toMatch(
    new RegExp(`^Port ${port} is in use by \\S.* \\(process \\d+\\): .*--port ${port + 1}`),
  );
});

test("a folder that cannot be made is said in one sentence", async () => {
  const file = join(temporaryFolder(), "a file");
  writeFileSync(file, "");
  const launcher = launch(join(file, "data"));
  expect(await launcher.exit).toBe(1);
  expect(lastLine(launcher.output())).toMatch(
    /^.*a file.* cannot be used .*choose another folder with --data\.$/,
  );
});

test("a folder of something else is not taken", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "photos"));
  const launcher = launch(folder);
  expect(await launcher.exit).toBe(1);
  expect(lastLine(launcher.output())).toMatch(/contains other files: choose an empty folder/);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test("damaged keys are said in one sentence, and stay as they are", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "keys.json"), "{}");
  const launcher = launch(folder);
  expect(await launcher.exit).toBe(1);
  expect(lastLine(launcher.output())).toMatch(/^The relay's keys in .*keys\.json are damaged/);
  expect(readFileSync(join(folder, "keys.json"), "utf8")).toBe("{}");
});

function lastLine(output: string): string | undefined {
  return output.trimEnd().split("\n").at(-1);
}
