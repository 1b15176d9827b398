/** The relay's disk is full: nothing runs that cannot be written down, what only reads goes on, and nobody blames the machine. */
import { existsSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { mountDrive } from "../helpers/drive.ts";
import { NEEDS_ROOT } from "../helpers/parts.ts";
import { Caller } from "./caller.ts";
import { fileIn, linesOf, type Rig, startRig } from "./rig.ts";

interface Given {
  status: number;
  call: string | null;
  body: Record<string, unknown>;
}

async function call({ base, token }: Rig, tool: string, input: object, headers = {}): Promise<Given> {
  const response = await fetch(`${base}/tools/${tool}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", ...headers },
    body: JSON.stringify(input),
  });
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, call: response.headers.get("Matrx-Call"), body };
}

/** A file that takes all room of a drive. */
function fill(drive: string): string {
  const file = join(drive, "fill");
  expect(() => writeFileSync(file, Buffer.alloc(32 * 1024 * 1024))).toThrow("ENOSPC");
  return file;
}

test("effects are refused with what to do, reads go on, and all is well when there is room again", {
  ...NEEDS_ROOT,
  timeout: 60_000,
}, async () => {
  const drive = mountDrive(8);
  const rig = await startRig((dataDir) => symlinkSync(drive, join(dataDir, "objects")));
  onTestFinished(() => rig.stop());
  const file = fileIn(rig);
  const append = (key: string) =>
    call(rig, "Bash", { command: `echo ${key} >> '${file}'` }, { "Idempotency-Key": key });
  const read = () => call(rig, "ListDirectory", { path: rig.folder });
  expect((await append("before")).status).toBe(200);
  using caller = await Caller.open(rig.relay.url, rig.device, rig.token);
  const gate = fileIn(rig);
  caller.send({
    id: "1",
    tool: "Bash",
    stream: true,
    input: { command: `echo on; until [ -e '${gate}' ]; do sleep 0.02; done` },
  });
  const running = await runningCall(rig);

  const times = rig.agent.states.filter((state) => state === "REGISTERED").length;
  const filler = fill(drive);
  const first = await append("full");
  // If a write of the relay's own came first, the object that the call finds is new and does not know why.
  const storage = expect.stringMatching(/full|failed/);
  expect(first).toMatchObject({
    status: 503,
    body: { code: "UNAVAILABLE", storage, hop: "relay", title: "Temporarily unavailable" },
  });
  expect(first.body.hint).toMatch(/disk is full|free some space/i);
  expect(first.call).toMatch(/^[0-9a-f-]{36}$/);
  // What failed took the connections along; until the machine has dialled again it is not to blame either.
  for (const given of [await read(), await append("full")])
    if (given.status !== 200) expect(given.body).toMatchObject({ code: "UNAVAILABLE", hop: "relay" });
  await rig.agent.registered(times);

  using reader = await Caller.open(rig.relay.url, rig.device, rig.token);
  for (let n = 0; n < 5; n++) {
    expect(await append("full")).toMatchObject({
      ...{ status: 503, body: { code: "UNAVAILABLE", storage, hop: "relay" } },
    });
    expect((await read()).status).toBe(200);
    expect(await reader.call(`read-${n}`, "ListDirectory", { path: rig.folder })).toMatchObject({
      type: "success",
    });
    expect(await reader.call(`effect-${n}`, "Bash", { command: `echo no >> '${file}'` })).toMatchObject({
      ...{ type: "error", code: "UNAVAILABLE", hop: "relay" },
    });
  }
  expect(await rig.isOnline()).toBe(true);
  // An effect that ends meanwhile is known, though it cannot be written down.
  writeFileSync(gate, "");
  await expect.poll(() => recordOf(rig, running)).toMatchObject({ state: "finished", status: "success" });
  expect(rig.agent.states.filter((state) => state === "REGISTERED")).toHaveLength(times + 1);

  rmSync(filler);
  await expect.poll(async () => (await append("full")).status).toBe(200);
  expect(linesOf(file)).toEqual(["before", "full"]);
  expect(existsSync(filler)).toBe(false);
  await expect.poll(() => recordOf(rig, running)).toMatchObject({ outcome_in: "here" });
  expect(rig.agent.states.filter((state) => state === "REGISTERED")).toHaveLength(times + 1);
});

/** The only call that is under way. */
async function runningCall({ base, token }: Rig): Promise<string> {
  const calls = async () => {
    const response = await fetch(`${base}/calls?state=accepted`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    return ((await response.json()) as { calls: { call: string }[] }).calls;
  };
  await expect.poll(calls).toHaveLength(1);
  return (await calls())[0]?.call ?? "";
}

async function recordOf({ base, token }: Rig, call: string): Promise<unknown> {
  return (await fetch(`${base}/calls/${call}`, { headers: { Authorization: `Bearer ${token}` } })).json();
}
