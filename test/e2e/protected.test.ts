/** What belongs to Matrx, attacked on one machine with a relay, its agent, a signed-in command line and a local server. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { makeClaimCode } from "../../scripts/start/claim.ts";
import { readRunning } from "../../scripts/start/lock.ts";
import { type Credential, request, signIn } from "../../scripts/start/owner.ts";
import { ROOT } from "../../scripts/tree.ts";
import { endOf, lineOf, startMatrx } from "../agent/cli/matrx.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { launch } from "../helpers/launcher.ts";

const answerSchema = z.looseObject({
  type: z.string(),
  output: z.string().optional(),
  code: z.string().optional(),
  hop: z.string().optional(),
});

type Call = (tool: string, input: Record<string, unknown>) => Promise<z.infer<typeof answerSchema>>;

const ALL = { include_ignored: true, show_hidden: true };

/** `npm start`, for a person whose command line and local server are in their usual places; it ends with the test. */
async function machine() {
  const home = temporaryFolder();
  const dataDir = join(temporaryFolder(), "relay data");
  const launcher = launch(dataDir, ["--port", "0"], home);
  const address = (await launcher.curlLine()).split(" ").at(-1) ?? "";
  const relay = {
    url: new URL(address).origin,
    claimCode: () => makeClaimCode(readFileSync(join(dataDir, "claim-secret"), "utf8").trim()),
  };
  const owner = await signIn(relay);
  const device = address.match(/\/v1\/devices\/([^/]+)\//)?.[1] ?? "";
  await liftRates(relay.url, owner, device);
  const person = { home, env: { HOME: home, MATRX_HOME: "", MATRX_PROTECTED: "" } };
  return { home, dataDir, relay, owner, device, person };
}

/** A token that is not the owner's makes 300 calls in a minute: too few for this. */
async function liftRates(url: string, owner: Credential, device: string): Promise<void> {
  const policy = await fetch(`${url}/v1/devices/${device}/policy`, {
    method: "PUT",
    headers: { Authorization: `Bearer ${owner.token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ rates: { messages_per_second: 10_000, calls_per_minute: 100_000 } }),
  });
  expect(policy.status).toBe(200);
}

const tokenSchema = z.object({ token: z.string() });

async function tokenOf({ relay, owner }: Machine, wish: Record<string, unknown>): Promise<string> {
  return (await request(relay, owner, "POST /v1/tokens", tokenSchema, wish)).token;
}

type Machine = Awaited<ReturnType<typeof machine>>;

/** Signs the person's command line in: its credentials are in the usual place. */
async function login({ relay, owner, person, home }: Machine): Promise<string> {
  const child = startMatrx(["login", "--relay", relay.url, "--json"], person);
  const ended = endOf(child);
  const { code } = await lineOf(child, ({ status }) => status === "pending");
  await request(relay, owner, `POST /v1/pairings/${code}/confirm`, z.unknown(), {});
  expect(await ended).toMatchObject({ code: 0 });
  return join(home, ".config/matrx/credentials.json");
}

function callerAt(base: string, token: string): Call {
  return async (tool, input) => {
    const response = await fetch(`${base}/tools/invoke`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ tool, input }),
    });
    return answerSchema.parse(await response.json());
  };
}

/** Each way in which a file could be read, through a file tool. */
async function readEveryWay(call: Call, file: string, folder: string): Promise<string[]> {
  const said: string[] = [];
  for (const [tool, input] of [
    ["Read", { file_path: file }],
    ["Read", { file_path: file, raw: true }],
    ["Read", { file_path: `/proc/self/root${file}` }],
    ["Grep", { pattern: ".", path: file, max_results: 5000 }],
    ["Grep", { pattern: ".", path: folder, max_results: 5000, ...ALL }],
    ["Glob", { pattern: "**/*", path: folder, ...ALL }],
    ["ListDirectory", { path: join(file, "..") }],
    ["DirectoryTree", { path: folder, depth: 10, ...ALL }],
    ["search_files", { query: "*", path: folder, show_hidden: true }],
  ] as const) {
    const answer = await call(tool, input);
    said.push(JSON.stringify(answer));
    if (tool === "Read") expect([file, answer.code]).toEqual([file, "PERMISSION_DENIED"]);
  }
  return said;
}

/** Strings that only the files of Matrx hold. */
function secretsIn(...files: string[]): string[] {
  const texts = files.map((file) => readFileSync(file, "utf8"));
  const found = texts.flatMap((text) => text.match(/[A-Za-z0-9_-]{40,}/g) ?? []);
  expect(found.length).toBeGreaterThanOrEqual(files.length);
  return found;
}

test("no tool leads to the person's credentials, the relay's data, another agent's or the program", {
  timeout: 90_000,
}, async () => {
  const here = await machine();
  const { home, dataDir, relay, device, person } = here;
  const credentials = await login(here);
  const serving = startMatrx(["serve", "--port", "0", "--json"], person);
  const local = await lineOf(serving, ({ url }) => url !== undefined);
  const localToken = String(local.token_file);
  const base = `${relay.url}/v1/devices/${device}`;
  const folders = [home, ROOT, dataDir, "/proc"];
  const read = callerAt(base, await tokenOf(here, { name: "read", access: "read" }));
  const held = callerAt(base, await tokenOf(here, { name: "held", access: "full", paths: folders }));
  const byServer = callerAt(String(local.url), readFileSync(localToken, "utf8").trim());

  const data = ["claim-secret", "keys.json", "authorization", "agent/key"].map((name) => join(dataDir, name));
  const secrets = secretsIn(credentials, localToken, ...data);
  const targets = [credentials, localToken, ...data];
  for (const call of [read, held, byServer]) {
    expect(await call("SystemInfo", {})).toMatchObject({ type: "success" });
    for (const file of targets) {
      const folder = file.startsWith(home) ? home : dataDir;
      const said = (await readEveryWay(call, file, folder)).join("\n");
      expect(secrets.filter((secret) => said.includes(secret))).toEqual([]);
    }
    const objects = join(dataDir, "objects");
    expect(await call("ListDirectory", { path: objects })).toMatchObject({ code: "PERMISSION_DENIED" });
  }

  // The same through the processes that hold the secrets.
  const { launcher, relay: workerd, agent } = readRunning(dataDir) ?? {};
  for (const pid of [launcher, workerd, agent, serving.pid]) {
    for (const entry of ["environ", "cmdline", "maps", "mem", "fd/3", "numa_maps", `root${credentials}`]) {
      for (const call of [read, held, byServer]) {
        const answer = await call("Read", { file_path: `/proc/${pid}/${entry}` });
        expect([entry, answer.type]).toEqual([entry, "error"]);
        expect(secrets.filter((secret) => JSON.stringify(answer).includes(secret))).toEqual([]);
      }
    }
  }

  // A token that is held to folders changes no code, though it may write there.
  const probe = join(ROOT, "agent/bin/zz-probe.js");
  for (const file_path of [
    probe,
    join(ROOT, "relay.capnp"),
    join(dataDir, "x"),
    join(home, ".config/matrx/policy.json"),
  ]) {
    const before = existsSync(file_path) ? readFileSync(file_path, "utf8") : undefined;
    expect(await held("Write", { file_path, content: "x" })).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(existsSync(file_path) ? readFileSync(file_path, "utf8") : undefined).toBe(before);
  }
  expect(await held("Read", { file_path: join(ROOT, "relay.capnp") })).toMatchObject({ type: "success" });
  for (const path of [join(home, ".config"), join(home, ".local/share"), join(dataDir, "..")]) {
    const deleting = await held("Delete", { path, recursive: true, permanent: true });
    expect([path, deleting.code]).toEqual([path, "PERMISSION_DENIED"]);
  }
  expect(await held("Write", { file_path: join(home, "notes.txt"), content: "mine" })).toMatchObject({
    type: "success",
  });

  expect(readdirSync(join(home, ".local/share/matrx/folders")).length).toBe(2);
});
