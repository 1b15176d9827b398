/** What must not end `npm start`, and what a start finds of an earlier one that was killed. */
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { orphansOf } from "../../scripts/start/orphans.ts";
import { isAlive } from "../../scripts/start/process.ts";
import { mountDrive } from "../helpers/drive.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { launch, personsEnvironment, pidsOn, START, shell, until, watch } from "../helpers/launcher.ts";
import { LONG } from "../helpers/long-mode.ts";
import { NEEDS_ROOT, needs, needsRare } from "../helpers/parts.ts";

const TIME = 120_000;
const AGAIN = 60_000;
/** How often relay and agent die: each time they are started again after a pause twice as long. */
const DEATHS = LONG ? 3 : 2;
const PROC = needs(process.platform === "linux", "processes are found by /proc here");

/** The process that runs as relay or agent on the folder now. */
function pidOf(what: "relay" | "agent", dataDir: string): number | undefined {
  return orphansOf(dataDir, {}).find((process) => process.what === what)?.pid;
}

async function killRelay(dataDir: string, url: string): Promise<void> {
  const pid = pidOf("relay", dataDir);
  if (pid === undefined) throw new Error("no relay runs");
  process.kill(pid, "SIGKILL");
  await until("another relay is noted", () => ![undefined, pid].includes(pidOf("relay", dataDir)), AGAIN);
  await until("it answers", () => isHealthy(url), AGAIN);
}

async function isHealthy(url: string): Promise<boolean> {
  return await fetch(`${url}/v1/health`).then(
    ({ ok }) => ok,
    () => false,
  );
}

function urlIn(curlLine: string): string {
  return new URL(curlLine.split(" ").at(-1) ?? "").origin;
}

/** Whether the machine answers through the relay. */
async function answers(curlLine: string): Promise<boolean> {
  return (await shell(`${curlLine} || true`)).includes('"type":"success"');
}

test("relay and agent may die as often as they like, whatever cannot be noted", {
  ...PROC,
  timeout: TIME,
}, async () => {
  const dataDir = join(temporaryFolder(), "data");
  const launcher = launch(dataDir);
  const line = await launcher.curlLine();
  const [, , agent = 0] = pidsOn(dataDir);
  rmSync(join(dataDir, "relay.pid"));
  mkdirSync(join(dataDir, "relay.pid/in-the-way"), { recursive: true });
  for (let time = 0; time < DEATHS; time++) await killRelay(dataDir, urlIn(line));
  expect(launcher.output().match(/relay\.pid cannot be written/g)).toHaveLength(1);
  expect(launcher.output()).toMatch(/The relay ended by SIGKILL\. Restarting it at once/);

  const journal = join(dataDir, "agent/journal.sqlite");
  renameSync(journal, `${journal}.kept`);
  mkdirSync(journal);
  process.kill(agent, "SIGKILL");
  const deaths =
    /agent ended with code 69 \(Error: \S+journal\.sqlite cannot be opened .*\)\. Restarting it/g;
  await until(
    "it died again and again",
    () => [...launcher.output().matchAll(deaths)].length > DEATHS,
    AGAIN,
  );
  rmSync(journal, { recursive: true });
  renameSync(`${journal}.kept`, journal);
  await until("the machine answers again", () => answers(line), AGAIN);

  launcher.process.kill("SIGINT");
  expect(await launcher.exit).toBe(0);
  expect(orphansOf(dataDir, {})).toEqual([]);
  expect(launcher.output()).not.toMatch(/^\s+at /m);
});

test("a full disk ends nothing, and is no matter once there is room", {
  ...NEEDS_ROOT,
  timeout: TIME,
}, async () => {
  const place = mountDrive(32);
  const dataDir = join(place, "data");
  const launcher = launch(dataDir);
  const line = await launcher.curlLine();
  const fill = join(place, "fill");
  expect(() => writeFileSync(fill, Buffer.alloc(64 * 1024 * 1024))).toThrow("ENOSPC");
  const relay = pidOf("relay", dataDir) ?? 0;
  process.kill(relay, "SIGKILL");
  await until("the death is said", () => launcher.output().includes("Restarting it"), AGAIN);
  await until(
    "it is noted, or said that it is not",
    () => /relay\.pid cannot be written|could not be started/.test(launcher.output()),
    AGAIN,
  );
  rmSync(fill);
  await until("the machine answers again", () => answers(line), AGAIN);
  expect(launcher.process.exitCode).toBeNull();
  expect(launcher.output()).not.toMatch(/^\s+at /m);
  launcher.process.kill("SIGINT");
  expect(await launcher.exit).toBe(0);
});

test("a start on a full disk is refused in one sentence", { ...NEEDS_ROOT, timeout: TIME }, async () => {
  const place = mountDrive(1);
  expect(() => writeFileSync(join(place, "fill"), Buffer.alloc(2 * 1024 * 1024))).toThrow("ENOSPC");
  await expectRefusal(join(place, "data"), /^\S+ cannot be used .*ENOSPC.*free some space/);
});

test("an orphan whose number was never noted is ended, and its commands end first", {
  ...PROC,
  timeout: TIME,
}, async () => {
  const dataDir = join(temporaryFolder(), "data");
  const first = launch(dataDir);
  const line = await first.curlLine();
  const [begun, ended] = [join(dataDir, "..", "begun"), join(dataDir, "..", "ended")];
  const command = `trap 'sleep 2; touch ${ended}; exit' TERM; touch ${begun}; sleep 60 & wait`;
  const call = line.replace("'{}'", `'${JSON.stringify({ command }).replaceAll("'", "'\\''")}'`);
  const answered = shell(`${call.replace(/SystemInfo$/, "Bash")} || true`);
  await until("the command runs", () => existsSync(begun));
  first.process.kill("SIGKILL");
  await first.exit;
  writeFileSync(join(dataDir, "relay.pid"), JSON.stringify({ launcher: first.process.pid }));

  const second = launch(dataDir);
  expect(await answers(await second.curlLine())).toBe(true);
  expect(second.output()).toMatch(/Ending the agent left over from an earlier start/);
  expect(second.output()).toMatch(/Ending the relay left over from an earlier start/);
  expect(existsSync(ended)).toBe(true);
  await answered;
});

test("more connections than descriptors: it says why the relay died, and is back when they are gone", {
  ...PROC,
  timeout: TIME,
}, async () => {
  const dataDir = join(temporaryFolder(), "data");
  const limited = [
    "-c",
    'ulimit -n 300; exec "$0" "$@"',
    process.execPath,
    START,
    "--data",
    dataDir,
    "--port",
    "0",
  ];
  const launcher = watch(spawn("sh", limited, { env: personsEnvironment() }), dataDir);
  const line = await launcher.curlLine();
  const { port, host } = new URL(urlIn(line));
  const crowd: Socket[] = [];
  onTestFinished(() => void crowd.map((socket) => socket.destroy()));
  const enter = () => void crowd.push(connect(Number(port), "127.0.0.1").on("error", () => undefined));
  const login = `POST /v1/logins HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 12\r\n\r\n{"name":"x"}`;
  for (let n = 0; n < 200; n++) enter();
  // Files are opened for these at the limit, too.
  const press = () => {
    for (const socket of crowd.slice(0, 5)) socket.write(login);
    enter();
    return /ran out of file descriptors \(300 here\)/.test(launcher.output());
  };
  await until("it is said", press, AGAIN);
  for (const socket of crowd) socket.destroy();
  await until("the machine answers again", () => answers(line), AGAIN);
  expect(launcher.process.exitCode).toBeNull();
});

test("the relay may open as much as the system lets it, and a hopeless limit is said", {
  ...PROC,
  timeout: TIME,
}, async () => {
  const dataDir = join(temporaryFolder(), "data");
  const limited = ["-c", 'ulimit -n 200; exec "$0" "$@"', process.execPath, START, "--data", dataDir];
  const hopeless = watch(spawn("sh", limited, { env: personsEnvironment() }), dataDir);
  expect(await hopeless.exit).toBe(1);
  expect(hopeless.output()).toMatch(/\nOnly 200 files and connections .*ulimit -n 4096.*\n$/);
  const soft = [
    "-c",
    'ulimit -Sn 200; exec "$0" "$@"',
    process.execPath,
    START,
    "--data",
    dataDir,
    "--port",
    "0",
  ];
  const launcher = watch(spawn("sh", soft, { env: personsEnvironment() }), dataDir);
  await launcher.curlLine();
  expect(isAlive(pidOf("relay", dataDir) ?? 0)).toBe(true);
});

async function expectRefusal(dataDir: string, sentence: RegExp): Promise<void> {
  const launcher = launch(dataDir);
  expect(await launcher.exit).toBe(1);
  expect(launcher.output().trimEnd().split("\n").at(-1)).toMatch(sentence);
  expect(launcher.output()).not.toMatch(/^\s+at /m);
}

/** A data folder as a start leaves it. */
function usedFolder(): string {
  const dataDir = join(temporaryFolder(), "data");
  mkdirSync(join(dataDir, "objects/relay-Device"), { recursive: true });
  return dataDir;
}

test.each(["relay.log", "relay.pid", "authorization"])("a folder where %s belongs is said", async (name) => {
  const dataDir = usedFolder();
  mkdirSync(join(dataDir, name));
  await expectRefusal(dataDir, new RegExp(`${name} cannot be used .*something else is in its place`));
});

test("a file where the objects belong is said", async () => {
  const dataDir = usedFolder();
  rmSync(join(dataDir, "objects"), { recursive: true });
  writeFileSync(join(dataDir, "objects"), "");
  await expectRefusal(dataDir, /cannot be used .*something else is in its place/);
});

const PLAIN = needsRare(process.getuid?.() !== 0, "root may write everything");
test.each(["relay.log", "objects", "objects/relay-Device", "objects/relay-Device/a.sqlite"])(
  "%s that another user left is said",
  PLAIN,
  async (name) => {
    const dataDir = usedFolder();
    writeFileSync(join(dataDir, "relay.log"), "");
    writeFileSync(join(dataDir, "objects/relay-Device/a.sqlite"), "");
    chmodSync(join(dataDir, name), 0o400);
    await expectRefusal(dataDir, new RegExp(`${name} cannot be used .*EACCES.*make yourself its owner`));
  },
);

test("a folder on a read-only mount is said", { ...NEEDS_ROOT, timeout: TIME }, async () => {
  const place = mountDrive(1);
  mkdirSync(join(place, "objects"));
  execFileSync("mount", ["-o", "remount,ro", place]);
  await expectRefusal(place, /^\S+ cannot be used .*EROFS.*mounted read-only/);
});
