/** Calls of a person's programs to a real machine: real relay, real agent process. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isAlive } from "../../scripts/start/process.ts";
import { createdTokenSchema } from "../../shared/token-api.ts";
import { Caller, invoke } from "./caller.ts";
import { processesOf } from "./processes.ts";
import { fileIn, linesOf, type Rig, recordOf, startRig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

const open = () => Caller.open(rig.relay.url, rig.device, rig.token);

it("runs a shell command, with its exit code as a result", async () => {
  using caller = await open();
  expect(await caller.call("1", "Bash", { command: "echo out; echo err >&2; exit 3" })).toMatchObject({
    id: "1",
    type: "success",
    device: rig.device,
    output: expect.stringMatching(/out\n[\s\S]*err\n[\s\S]*3/),
    metadata: { exit_code: 3 },
  });
});

it("writes a file and reads it back, byte for byte", async () => {
  const file = fileIn(rig);
  const content = "première ligne\nsnow ☃ and 🧊\n";
  const written = await invoke(rig.base, rig.token, { tool: "Write", input: { file_path: file, content } });
  expect(written).toMatchObject({ type: "success" });
  expect(readFileSync(file, "utf8")).toBe(content);
  const read = await invoke(rig.base, rig.token, { tool: "Read", input: { file_path: file } });
  for (const line of content.trimEnd().split("\n")) expect(read.output).toContain(line);
});

it("streams live output while the command runs, without gaps, before the one answer", async () => {
  const gate = fileIn(rig);
  using caller = await open();
  const command = `echo first; until [ -e '${gate}' ]; do sleep 0.02; done; echo last`;
  caller.send({ id: "1", tool: "Bash", input: { command }, stream: true });
  const first = await caller.frame("live output", ({ type }) => type === "output");
  expect(first).toMatchObject({ id: "1", channel: "stdout", offset: 0, data: "first\n" });
  writeFileSync(gate, "");
  const { output } = await caller.answer("1");
  const frames = await caller.framesOf("1");
  expect(frames.at(-1)?.type).toBe("success");
  const live = frames.slice(0, -1);
  expect(live.map(({ data }) => data).join("")).toBe("first\nlast\n");
  expect(output).toContain("first\nlast\n");
  expect(live.every(({ type }) => type === "output")).toBe(true);
});

/** A tree that does not want to end: a child that ignores SIGTERM, one in a session of its own, a grandchild. */
function stubbornTree(folder: string): string {
  return [
    `cd '${folder}'`,
    "(trap '' TERM; while true; do sleep 0.2; done) & one=$!",
    "setsid sh -c 'sleep 301 & sleep 302' & two=$!",
    "sh -c 'sh -c \"sleep 303; true\"; true' & three=$!",
    "echo $$ $one $two $three",
    "wait",
  ].join("\n");
}

it.each(["cancel", "cancel_all"])("ends the whole process tree at %s", async (action) => {
  using caller = await open();
  caller.send({ id: "1", tool: "Bash", input: { command: stubbornTree(rig.folder) }, stream: true });
  const { data } = await caller.frame("process ids", ({ type }) => type === "output");
  const pids = data?.trim().split(" ").map(Number) ?? [];
  expect(pids).toHaveLength(4);
  expect(pids.every(isAlive)).toBe(true);
  caller.send(action === "cancel" ? { id: "1", action } : { action });
  expect(await caller.answer("1")).toMatchObject({ type: "error", code: "CANCELLED" });
  expect(pids.filter(isAlive)).toEqual([]);
  expect(processesOf(rig.folder)).toEqual([]);
  const answers = (await caller.framesOf("1")).filter(({ type }) => type !== "output");
  expect(answers).toHaveLength(1);
});

it("goes on with an effect whose caller left, and keeps its outcome readable", async () => {
  const [file, gate] = [fileIn(rig), fileIn(rig)];
  const command = `until [ -e '${gate}' ]; do sleep 0.02; done; echo done >> '${file}'`;
  const input = { command: `echo began; ${command}` };
  const body = { tool: "Bash", input, idempotency_key: crypto.randomUUID() };
  const caller = await open();
  caller.send({ id: "1", ...body, stream: true });
  await caller.frame("live output", ({ type }) => type === "output");
  caller[Symbol.dispose]();
  writeFileSync(gate, "");
  const answer = await invoke(rig.base, rig.token, body);
  expect(answer).toMatchObject({ type: "success" });
  expect(linesOf(file)).toEqual(["done"]);
  expect(await recordOf(rig, answer.call)).toMatchObject({
    ...{ state: "finished", status: "success", tool: "Bash" },
  });
});

it("gives one outcome for one idempotency key, and refuses the key for another input", async () => {
  const file = fileIn(rig);
  const key = crypto.randomUUID();
  const append = (text: string) => ({
    tool: "Bash",
    input: { command: `echo ${text} | tee -a '${file}'; sleep 0.1` },
    idempotency_key: key,
  });
  const together = await Promise.all(
    Array.from({ length: 3 }, () => invoke(rig.base, rig.token, append("a"))),
  );
  const later = await invoke(rig.base, rig.token, append("a"));
  for (const answer of [...together, later]) expect(answer).toEqual(later);
  expect(later).toMatchObject({ status: 200, type: "success", output: "a\n" });
  expect(linesOf(file)).toEqual(["a"]);
  expect(await invoke(rig.base, rig.token, append("b"))).toMatchObject({ type: "error", code: "CONFLICT" });
  expect(linesOf(file)).toEqual(["a"]);
});

it("closes the socket of a revoked token with 4403, and ends what ran for it", async () => {
  const session = await rig.relay.signIn();
  const wish = { name: "short-lived", credential: "script" };
  const made = await rig.relay.request(session, "POST /v1/tokens", createdTokenSchema, wish);
  using caller = await Caller.open(rig.relay.url, rig.device, made.token);
  const command = `cd '${rig.folder}'; echo $$; sleep 300`;
  caller.send({ id: "1", tool: "Bash", input: { command }, stream: true });
  const { data } = await caller.frame("process id", ({ type }) => type === "output");
  const pid = Number(data);
  expect(isAlive(pid)).toBe(true);
  await fetch(`${rig.relay.url}/v1/tokens/${made.id}`, {
    method: "DELETE",
    headers: { Authorization: `Bearer ${session.token}` },
  });
  expect(await caller.closed).toMatchObject({ code: 4403 });
  await expect.poll(() => isAlive(pid)).toBe(false);
  await expect.poll(() => processesOf(rig.folder)).toEqual([]);
  await expect(Caller.open(rig.relay.url, rig.device, made.token)).rejects.toThrow("401");
});
