/** A live monitor's figures through a real relay and a real agent: samples arrive, and stop when nobody is there for them. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { type Sample, sampleSchema } from "../../agent/metrics/sample.ts";
import type { StreamEnd } from "../../shared/streams/endpoint.ts";
import { type Rig, startRig } from "./rig.ts";
import { StreamCaller } from "./stream-caller.ts";

const MINUTE = 60_000;
const KiB = 1024;

let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

function open(token = rig.token): Promise<StreamCaller> {
  return StreamCaller.open(rig.relay.url, rig.device, token);
}

/** Samples of a stream, however its data was cut. */
async function* samplesOf(stream: StreamEnd): AsyncGenerator<Sample> {
  let rest = "";
  for await (const piece of stream.incoming()) {
    if (piece.kind !== "data") continue;
    const lines = (rest + Buffer.from(piece.bytes).toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield sampleSchema.strict().parse(JSON.parse(line));
  }
}

async function take(samples: AsyncGenerator<Sample>, count: number): Promise<Sample[]> {
  const taken: Sample[] = [];
  while (taken.length < count) {
    const { value, done } = await samples.next();
    if (done) throw new Error("the stream ended");
    taken.push(value);
  }
  return taken;
}

it("a sample is in the answer, and one a second comes after it", { timeout: MINUTE }, async () => {
  using caller = await open();
  const { answer, stream } = await caller.stream("SystemMetrics", { interval_ms: 1000 });
  expect(answer.type).toBe("success");
  const first = sampleSchema.strict().parse(answer.metadata);
  const samples = await take(samplesOf(stream), 3);
  const at = [first, ...samples].map((sample) => Date.parse(sample.at));
  expect(at).toEqual(at.toSorted((a, b) => a - b));
  for (const { cpu } of samples) expect(cpu.percent).not.toBeNull();
  // A single sample may come early: one before it that is late shortens the time to it.
  expect((at.at(-1) ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(3 * 990);
});

it("a viewer that does not read for a while keeps no other waiting, and goes on later", {
  timeout: MINUTE,
}, async () => {
  using stalled = await open();
  using other = await open();
  const window = 32 * KiB;
  const held = await stalled.stream("SystemMetrics", { interval_ms: 1000 }, window);
  const fine = await other.stream("SystemMetrics", { interval_ms: 1000 });
  await take(samplesOf(fine.stream), 3);
  expect((await other.call("SystemInfo")).type).toBe("success");
  const samples = samplesOf(held.stream);
  expect(await take(samples, 4)).toHaveLength(4);
  await samples.return(undefined);
});

it("the agent looks no more once its last viewer has left", { timeout: MINUTE }, async () => {
  const caller = await open();
  const { stream } = await caller.stream("SystemMetrics", { interval_ms: 1000 });
  await take(samplesOf(stream), 1);
  caller.socket.terminate();
  using other = await open();
  const reset = await other.stream("SystemMetrics", { interval_ms: 1000 });
  await take(samplesOf(reset.stream), 1);
  reset.stream.reset({ code: "CANCELLED", message: "enough", hop: "caller" });
  // A look reads files of /proc. Now and then other parts of the agent read something too, but not all the time.
  const reads = async () => {
    const command = `awk '/^syscr/ {print $2}' /proc/${rig.agent.child.pid}/io`;
    return Number((await other.call("Bash", { command })).output);
  };
  const during = async (ms: number) => {
    const before = await reads();
    await sleep(ms);
    return (await reads()) - before;
  };
  const ofTheCalls = Math.max(await during(0), await during(0));
  const whileIdle = async () => (await during(5000)) - ofTheCalls;
  await expect.poll(whileIdle, { timeout: 40_000 }).toBeLessThan(50);
});

it("a device that goes away ends the stream with a reason, and serves the next one when it is back", {
  timeout: MINUTE,
}, async () => {
  using caller = await open();
  const { stream } = await caller.stream("SystemMetrics", { interval_ms: 1000 });
  const samples = samplesOf(stream);
  await take(samples, 1);
  rig.line.cut();
  await expect(take(samples, 60)).rejects.toMatchObject({ code: "UNAVAILABLE", hop: "relay" });
  await expect.poll(() => rig.isOnline(), { timeout: 20_000 }).toBe(true);
  const again = await caller.stream("SystemMetrics", { interval_ms: 1000 });
  expect(await take(samplesOf(again.stream), 1)).toHaveLength(1);
});

it("bad input opens no stream", { timeout: MINUTE }, async () => {
  using caller = await open();
  for (const interval_ms of [10, 1e9, "fast"]) {
    const { answer } = await caller.stream("SystemMetrics", { interval_ms });
    expect(answer).toMatchObject({ type: "error", code: "INVALID_PARAMETERS" });
  }
  expect(await caller.call("SystemMetrics", { interval_ms: 1000 })).toMatchObject({
    ...{ type: "error", code: "INVALID_PARAMETERS" },
  });
  expect(await caller.call("SystemMetrics")).toMatchObject({ type: "success" });
});

it("connections are told, those of the relay's agent among them", { timeout: MINUTE }, async () => {
  using caller = await open();
  const { port } = rig.line;
  const answer = await caller.call("NetworkConnections", { port, state: "ESTABLISHED" });
  expect(answer.type).toBe("success");
  const own = expect.objectContaining({
    pid: rig.agent.child.pid,
    remote: expect.objectContaining({ port }),
  });
  expect(answer.metadata?.sockets).toEqual(expect.arrayContaining([own]));
});

it("a token limited to folders sees neither", { timeout: MINUTE }, async () => {
  const person = await rig.relay.signIn();
  const wish = { name: "AI", paths: [rig.folder], ask: [] };
  const { token } = await rig.relay.request(person, "POST /v1/tokens", z.object({ token: z.string() }), wish);
  using caller = await open(token);
  for (const tool of ["SystemMetrics", "NetworkConnections", "ListProcesses"])
    expect(await caller.call(tool)).toMatchObject({ type: "error", code: "PERMISSION_DENIED" });
});
