/** Real programs through `matrx forward`: redis-cli to a redis-server, and ssh and rsync to an sshd. */
import { execFile, execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MATRX_BIN } from "../../scripts/matrx-bin.ts";
import { needs } from "../helpers/parts.ts";
import { callerArgs, Forwarding, freePort, startServer, testFolder } from "./forwarding.ts";
import { type Rig, startRig } from "./rig.ts";

const run = promisify(execFile);
const MiB = 1024 * 1024;

/** Where a program is; undefined: not installed. */
function found(program: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(":"), "/usr/sbin", "/sbin"];
  return folders.map((folder) => join(folder, program)).find((file) => existsSync(file));
}

const lackOf = (...programs: string[]) => programs.filter((program) => !found(program));

const redisLacks = lackOf("redis-server", "redis-cli");
const NEEDS_REDIS = needs(
  redisLacks.length === 0,
  `a port is tried with ${redisLacks.join(", ")}: apt install redis-server redis-tools`,
);
// As root, sshd wants a folder that its package's service makes.
const isRootReady = process.getuid?.() !== 0 || existsSync("/run/sshd");
const sshLacks = lackOf("sshd", "ssh", "ssh-keygen", "rsync");
const NEEDS_SSH = needs(
  sshLacks.length === 0 && isRootReady,
  `ssh is tried with ${sshLacks.join(", ") || "/run/sshd"}: apt install openssh-server openssh-client rsync; as root, mkdir /run/sshd`,
);

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

test("redis-cli sets and gets large values, pipelines, and waits for a message", {
  ...NEEDS_REDIS,
  timeout: 60_000,
}, async () => {
  const port = await freePort();
  const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", testFolder()];
  await startServer("redis-server", options, port);
  const forwarding = await Forwarding.start(rig, port);
  const cli = (...words: string[]) => run("redis-cli", ["-p", String(forwarding.port), ...words]);
  expect((await cli("ping")).stdout).toBe("PONG\n");
  const value = randomBytes(MiB).toString("hex");
  const setting = run("redis-cli", ["-p", String(forwarding.port), "-x", "set", "large"]);
  setting.child.stdin?.end(value);
  expect((await setting).stdout).toBe("OK\n");
  const got = await run("redis-cli", ["-p", String(forwarding.port), "get", "large"], { maxBuffer: 8 * MiB });
  expect(got.stdout.trimEnd()).toBe(value);
  const many = run("redis-cli", ["-p", String(forwarding.port), "--pipe"]);
  many.child.stdin?.end(Array.from({ length: 5000 }, (_, index) => `SET key:${index} ${index}\r\n`).join(""));
  expect((await many).stdout).toContain("errors: 0, replies: 5000");
  const blocked = cli("blpop", "queue", "20");
  await expect.poll(async () => (await cli("info", "clients")).stdout).toContain("blocked_clients:1");
  await cli("rpush", "queue", "job");
  expect((await blocked).stdout).toContain("job");
});

/** An sshd of this user's own, and the options by which ssh gets there through `matrx forward --stdio`. */
async function startSshd(): Promise<string[]> {
  const folder = testFolder();
  const at = (name: string) => join(folder, name);
  for (const key of ["host", "user"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", at(key)]);
  const port = await freePort();
  const settings = {
    ...{ Port: port, ListenAddress: "127.0.0.1", HostKey: at("host"), AuthorizedKeysFile: at("user.pub") },
    ...{ PidFile: "none", StrictModes: "no", UsePAM: "no", PermitRootLogin: "prohibit-password" },
    ...{ PasswordAuthentication: "no", KbdInteractiveAuthentication: "no", LogLevel: "ERROR" },
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`);
  writeFileSync(at("sshd_config"), lines.join(""));
  await startServer(found("sshd") ?? "sshd", ["-D", "-e", "-f", at("sshd_config")], port);
  writeFileSync(at("known_hosts"), `laptop ${readFileSync(at("host.pub"), "utf8")}`);
  const { home, args } = callerArgs(rig);
  const forward = [process.execPath, MATRX_BIN, "forward", "--stdio", rig.device, String(port), ...args];
  const script = `#!/bin/sh\nMATRX_HOME='${home}' MATRX_PROTECTED='${home}' exec ${forward.map((word) => `'${word}'`).join(" ")}\n`;
  writeFileSync(at("proxy"), script, { mode: 0o700 });
  return [
    ...["-F", "none", "-i", at("user"), "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes"],
    ...["-o", `UserKnownHostsFile=${at("known_hosts")}`, "-o", "HostKeyAlias=laptop"],
    ...["-o", `ProxyCommand=${at("proxy")}`, "-l", userInfo().username],
  ];
}

test("ssh by ProxyCommand: a command's output, its exit code, and files by rsync both ways", {
  ...NEEDS_SSH,
  timeout: 60_000,
}, async () => {
  const options = await startSshd();
  const { stdout } = await run("ssh", [...options, "laptop", "echo hello; id -un"]);
  expect(stdout).toBe(`hello\n${userInfo().username}\n`);
  await expect(run("ssh", [...options, "laptop", "exit 7"])).rejects.toMatchObject({ code: 7 });

  const [here, there, back] = [testFolder(), testFolder(), testFolder()];
  mkdirSync(join(here, "photos"));
  const content = randomBytes(24 * MiB);
  writeFileSync(join(here, "photos", "large.bin"), content);
  for (let index = 0; index < 50; index++) writeFileSync(join(here, "photos", `${index}.txt`), `${index}`);
  const rsync = (from: string, to: string) =>
    run("rsync", ["-a", "-e", `ssh ${options.join(" ")}`, from, to]);
  await rsync(join(here, "photos"), `laptop:${there}/`);
  await rsync(`laptop:${there}/photos`, `${back}/`);
  const hashOf = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");
  const wanted = createHash("sha256").update(content).digest("hex");
  expect(hashOf(join(there, "photos", "large.bin"))).toBe(wanted);
  expect(hashOf(join(back, "photos", "large.bin"))).toBe(wanted);
  expect(readFileSync(join(back, "photos", "49.txt"), "utf8")).toBe("49");
});
