/** One agent under two surfaces: what the relay and what programs of the machine ask for meet in one core. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { ensurePaired } from "../../scripts/start/pairing.ts";
import { lineOf, startMatrx } from "../agent/cli/matrx.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { startRelay } from "../helpers/relay.ts";
import { invoke } from "./caller.ts";
import { upAndServe } from "./up-and-serve.ts";

/** A relay, and the folder of an agent that is paired with it. */
async function paired() {
  const relay = await startRelay();
  onTestFinished(() => relay.stop());
  const token = await relay.token();
  const { device_id } = await ensurePaired(relay, token, new AbortController().signal, () => undefined);
  const folder = temporaryFolder();
  const count = join(folder, "count");
  const home = join(relay.dataDir, "agent");
  const base = `${relay.url}/v1/devices/${device_id}`;
  /** How often its command ran. */
  const runs = () => (existsSync(count) ? readFileSync(count, "utf8").length : 0);
  const add = (idempotency_key: string) => ({
    ...{ tool: "Bash", idempotency_key },
    input: { command: `printf x >> ${count}` },
  });
  return { token, home, base, folder, runs, add };
}

/** Starts `matrx serve` in the same folder. */
async function serve(home: string) {
  const child = startMatrx(["serve", "--port", "0", "--json", "--log-level", "error"], { home });
  const { url, token_file } = await lineOf(child, (line) => line.url !== undefined);
  return { child, url: String(url), token: readFileSync(String(token_file), "utf8").trim() };
}

test("keys of relay and local callers do not meet, and each is known after a restart, whoever serves then", {
  timeout: 120_000,
}, async () => {
  const { token, home, base, runs, add } = await paired();
  const up = await upAndServe(home);
  const local = await invoke(up.url, up.token, add("k"));
  const remote = await invoke(base, token, add("k"));
  expect([local.type, remote.type, runs()]).toEqual(["success", "success", 2]);
  expect(local.call).not.toBe(remote.call);
  expect(await invoke(up.url, up.token, add("k"))).toEqual(local);
  await up.kill();

  const again = await upAndServe(home);
  expect(await invoke(again.url, again.token, add("k"))).toEqual(local);
  expect((await invoke(base, token, add("k"))).call).toBe(remote.call);
  // The relay's ledger and the journal still know each other.
  expect(await invoke(base, token, add("other"))).toMatchObject({ type: "success" });
  expect(runs()).toBe(3);
  await again.kill();

  const alone = await serve(home);
  expect(await invoke(alone.url, alone.token, add("k"))).toEqual(local);
  const next = await invoke(alone.url, alone.token, add("next"));
  expect(runs()).toBe(4);
  alone.child.kill("SIGKILL");

  const last = await upAndServe(home);
  expect(await invoke(last.url, last.token, add("next"))).toEqual(next);
  expect(runs()).toBe(4);
  await last.stop();
  const journal = new DatabaseSync(join(home, "journal.sqlite"), { readOnly: true });
  onTestFinished(() => journal.close());
  const rows = journal.prepare("SELECT key FROM calls WHERE key IS NOT NULL ORDER BY rowid").all();
  expect(rows.map(({ key }) => key)).toEqual(["k", "k", "other", "next"]);
});

test("a command of a local key outlives the agent, and the next one answers for it", {
  timeout: 60_000,
}, async () => {
  const { home, folder, runs, add } = await paired();
  const go = join(folder, "go");
  const { input, ...call } = add("k");
  const slow = { ...call, input: { command: `${input.command}; until [ -e ${go} ]; do sleep 0.02; done` } };
  const up = await upAndServe(home);
  const lost = invoke(up.url, up.token, slow);
  lost.catch(() => undefined);
  await expect.poll(runs, { interval: 10 }).toBe(1);
  await up.kill();
  await expect(lost).rejects.toThrow();

  const again = await upAndServe(home);
  const answer = invoke(again.url, again.token, slow);
  writeFileSync(go, "");
  expect(await answer).toMatchObject({ type: "success" });
  expect(runs()).toBe(1);
  await again.stop();
});

test("one policy and one table of rates hold for both", async () => {
  const { token, home, base } = await paired();
  writeFileSync(
    join(home, "policy.json"),
    '{"allowed_tools":["Bash","SystemInfo"],"rates":{"calls_per_minute":2}}',
  );
  const up = await upAndServe(home);
  for (const [where, by] of [
    [up.url, up.token],
    [base, token],
  ] as const) {
    const read = () => invoke(where, by, { tool: "SystemInfo" });
    const keyed = { tool: "Bash", input: { command: "true" }, idempotency_key: "k" };
    expect(await invoke(where, by, { tool: "Glob", input: { pattern: "*" } })).toMatchObject({
      ...{ code: "PERMISSION_DENIED", hop: "agent" },
    });
    // Each grant has its own count; a local call counts with a key or without.
    expect([(await read()).type, (await invoke(where, by, keyed)).type]).toEqual(["success", "success"]);
    expect(await read()).toMatchObject({ code: "RATE_LIMITED", hop: "agent" });
    expect((await invoke(where, by, { ...keyed, idempotency_key: "l" })).code).toBe("RATE_LIMITED");
  }
  await up.stop();
});

test("serve runs beside up in one folder, and not beside up --serve", { timeout: 60_000 }, async () => {
  const { home } = await paired();
  const up = await upAndServe(home);
  const refused = startMatrx(["serve", "--port", "0"], { home });
  let said = "";
  refused.stderr?.on("data", (data) => {
    said += data;
  });
  const code = await new Promise((resolve) => refused.once("close", resolve));
  expect([code, said]).toEqual([69, expect.stringContaining("already running here")]);
  await up.stop();

  const connected = startMatrx(["up", "--json", "--log-level", "error"], { home });
  await lineOf(connected, ({ state }) => state === "REGISTERED");
  const { url, token } = await serve(home);
  expect(await invoke(url, token, { tool: "SystemInfo" })).toMatchObject({ type: "success" });
});
