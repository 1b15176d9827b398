/** The command line and the agent against the real relay, in real processes. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { temporaryFolder } from "../../helpers/folder.ts";
import { startRelay } from "../../helpers/relay.ts";
import { endOf, lineOf, runMatrx, startMatrx } from "./matrx.ts";

/** A relay, a home that is paired and signed in, and an agent that is connected. */
async function connected() {
  const relay = await startRelay();
  onTestFinished(() => relay.stop());
  const home = temporaryFolder();
  const owner = await relay.signIn();
  const confirm = async (command: string, ...more: string[]) => {
    const child = startMatrx([command, "--relay", relay.url, "--json", ...more], { home });
    const ended = endOf(child);
    const { code } = await lineOf(child, ({ status }) => status === "pending");
    await relay.request(owner, `POST /v1/pairings/${code}/confirm`, z.unknown(), {});
    return ended;
  };
  const paired = await confirm("pair", "--name", "laptop", "--yes");
  const signedIn = await confirm("login");
  const agent = startMatrx(["up", "--json"], { home });
  const agentEnded = endOf(agent);
  await lineOf(agent, ({ state }) => state === "REGISTERED");
  const matrx = (args: string[], stdin?: string) =>
    runMatrx(args, { home, ...(stdin !== undefined && { stdin }) });
  return { relay, home, owner, agent, agentEnded, paired, signedIn, matrx };
}

test("pair, sign in, connect, look, call; and stop", { timeout: 240_000 }, async () => {
  const { relay, home, paired, signedIn, agent, agentEnded, matrx } = await connected();
  expect([paired.code, signedIn.code]).toEqual([0, 0]);
  const device = JSON.parse(paired.stdout.trim().split("\n").at(-1) ?? "");
  expect(device).toMatchObject({ status: "paired", relay: relay.url, name: "laptop" });

  const { devices } = JSON.parse((await matrx(["devices", "--json"])).stdout);
  expect(devices).toMatchObject([{ id: device.device_id, state: "ONLINE", kind: "agent" }]);
  expect((await matrx(["tools", "lap"])).stdout).toMatch(/^Bash +execute/m);

  const status = await matrx(["status", "--json"]);
  expect(JSON.parse(status.stdout)).toMatchObject({
    ok: true,
    hops: [{}, {}, {}, {}, { hop: "tool", ok: true }],
  });

  for (const way of [["--stream"], ["--no-stream"], ["--rest"]]) {
    const ran = await matrx(["call", "laptop", "Bash", "command=echo out; exit 7", "timeout=5000", ...way]);
    expect(ran).toMatchObject({ code: 7, stdout: expect.stringMatching(/^out\n/) });
  }
  const piped = await matrx(["call", "laptop", "Bash", "--stdin", "--json"], '{"command":"echo in"}');
  expect(JSON.parse(piped.stdout)).toMatchObject({ type: "success", output: expect.stringContaining("in") });

  const typo = await matrx(["call", "laptop", "Bash", "comand=ls"]);
  expect(typo).toMatchObject({ code: 64, stderr: expect.stringContaining('Did you mean "command"?') });
  expect((await matrx(["call", "nobody", "Bash", "command=ls"])).code).toBe(68);
  const late = await matrx(["call", "laptop", "Bash", "command=sleep 20", "--timeout", "0.3"]);
  expect(late.code).toBe(124);

  const reader = join(home, "reader-token");
  writeFileSync(reader, `Authorization: Bearer ${await relay.token("read")}\n`, { mode: 0o600 });
  const refused = await matrx(["call", device.device_id, "Bash", "command=ls", "--token-file", reader]);
  expect(refused.code).toBe(77);

  const calling = startMatrx(["call", "laptop", "Bash", "command=echo ready; sleep 20", "--stream"], {
    home,
  });
  const callEnded = endOf(calling);
  await new Promise((resolve) => calling.stdout?.once("data", resolve));
  calling.kill("SIGINT");
  expect((await callEnded).code).toBe(130);

  agent.kill("SIGTERM");
  expect((await agentEnded).code).toBe(0);
  const offline = await matrx(["status"]);
  expect(offline.code).toBe(69);
  expect(offline.stdout).toMatch(/✗ device[\s\S]*matrx up[\s\S]*– tool +not tried/);
});

test("the owner limits a device, and asks what came of a call", { timeout: 240_000 }, async () => {
  const { home, relay, matrx } = await connected();
  expect((await matrx(["policy", "laptop"])).stdout).toMatch(/^Tools +not limited here$/m);
  const made = await matrx(["call", "laptop", "Bash", "command=echo once; exit 3", "--json", "--no-stream"]);
  const { call } = JSON.parse(made.stdout);
  const again = await matrx(["outcome", "laptop", call]);
  expect(again).toMatchObject({ code: 3, stdout: expect.stringContaining("once") });
  // More bytes than the relay keeps, in as many characters as a command's output may have.
  const command = "command=printf '漢%.0s' $(seq 25000); exit 3";
  const long = await matrx(["call", "laptop", "Bash", command, "--json", "--no-stream"]);
  const kept = await matrx(["outcome", "laptop", JSON.parse(long.stdout).call]);
  expect(kept.code).toBe(3);
  expect(kept.stdout, "from the device, which alone keeps it").toContain("漢".repeat(25_000));
  const listed = new RegExp(`Bash +finished .* ${call}$`, "m");
  expect((await matrx(["calls", "laptop"])).stdout).toMatch(listed);
  expect((await matrx(["calls"])).stdout, "the default device").toMatch(listed);
  const record = await matrx(["outcome", "laptop", call, "--json"]);
  expect(JSON.parse(record.stdout)).toMatchObject({ call, tool: "Bash", state: "finished" });
  expect((await matrx(["outcome", "laptop", "0199d3a4-7c1e-7b52-9f3e-2d6a8c410e75"])).code).toBe(66);

  const limited = await matrx(["policy", "laptop", "--set", "-"], '{"allowed_tools":["SystemInfo"]}');
  expect(limited).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Tools +SystemInfo$/m) });
  const why = await matrx(["policy", "explain", "laptop", "bash", "command=echo no"]);
  expect(why).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Refused: Bash is not allowed by the/),
  });
  expect(why.stdout).toMatch(/^policy +allowed_tools +refuses +decides$/m);
  const asJson = await matrx(["policy", "explain", "laptop", "SystemInfo", "--json"]);
  expect(JSON.parse(asJson.stdout)).toMatchObject({ decision: "allowed", tool: "SystemInfo" });
  const here = await matrx(["policy", "explain", "Read", "file_path=/etc/hosts"]);
  expect(here).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Allowed: no rule refuses Read/) });
  const refused = await matrx(["call", "laptop", "Bash", "command=echo no"]);
  expect(refused).toMatchObject({ code: 77, stderr: expect.stringContaining("policy") });
  const wrong = await matrx(["policy", "laptop", "--set", "-"], '{"alowed_tools":[]}');
  expect(wrong).toMatchObject({
    code: 64,
    stderr: expect.stringContaining("Unknown parameter: alowed_tools"),
  });
  expect((await matrx(["policy", "laptop", "--set", "-"], "{")).code).toBe(64);

  const script = join(home, "script-token");
  writeFileSync(script, await relay.token(), { mode: 0o600 });
  const denied = await matrx(["policy", "laptop", "--set", "-", "--token-file", script], "{}");
  expect(denied.code).toBe(77);
});

test("an agent whose device was removed says so, and stops", { timeout: 240_000 }, async () => {
  const { relay, owner, paired, agentEnded } = await connected();
  const { device_id } = JSON.parse(paired.stdout.trim().split("\n").at(-1) ?? "");
  await relay.request(owner, `DELETE /v1/devices/${device_id}`, z.unknown());
  const { code, stderr } = await agentEnded;
  expect(code).toBe(77);
  expect(stderr).toMatch(/removed this device\n.*matrx pair --replace/);
});
