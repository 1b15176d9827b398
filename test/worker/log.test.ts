/** The relay's log: what others can cause is counted, what others wrote stays on one line. */
import { runInDurableObject } from "cloudflare:test";
import { makeCallId } from "@matrx/shared/ids.ts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { problemResponse } from "../../worker/problem.ts";
import { Tally } from "../../worker/tally.ts";
import { BareDevice } from "./helpers/device.ts";
import { object } from "./helpers/home.ts";
import { Person } from "./helpers/relay.ts";

let lines: string[];

beforeEach(() => {
  lines = [];
  const keep = (...said: unknown[]) => void lines.push(said.map(String).join(" "));
  vi.spyOn(console, "warn").mockImplementation(keep);
  vi.spyOn(console, "error").mockImplementation(keep);
});
afterEach(() => vi.restoreAllMocks());

describe("a tally", () => {
  it("says the first at once and the rest a minute later", () => {
    const asked: number[] = [];
    const tally = new Tally(
      (count) => `${count} of them`,
      (at) => asked.push(at),
    );
    for (let now = 1000; now < 1005; now++) tally.add(now);
    expect(lines).toEqual(["1 of them"]);
    tally.flush(asked.at(-1) ?? 0);
    expect(lines).toEqual(["1 of them", "4 of them"]);
    tally.flush(1e9);
    expect(lines).toHaveLength(2);
    expect(tally.total).toBe(5);
  });
});

it("tells of a device's stray answers in two lines, however many they are", async () => {
  const { id, device, heardOut } = await bareDevice();
  for (let n = 0; n < 500; n++)
    device.send({
      type: "tool_result",
      device_id: id,
      tool_call_id: makeCallId(),
      success: true,
      result: {},
      executed_at: new Date().toISOString(),
    });
  await heardOut();
  const told = () => lines.filter((line) => line.includes("not given"));
  expect(told()).toHaveLength(1);
  await runInDurableObject(object(id), (instance) => instance.tick(Date.now() + 61_000));
  expect(told()).toHaveLength(2);
  expect(told()[1]).toContain("499");
});

it("keeps what a device reports on one line, and on few of them", async () => {
  const { id, device, heardOut } = await bareDevice();
  const message = "no disk\nincident 00000000: forged\u001b[2J\u202e";
  for (let n = 0; n < 5; n++)
    device.send({
      type: "error",
      error_code: "TOOL_EXECUTION_FAILED",
      message,
      timestamp: "2026-02-12T10:30:15Z",
    });
  await heardOut();
  const told = lines.filter((line) => line.includes("reports"));
  expect(told).toEqual([
    `device ${id} reports TOOL_EXECUTION_FAILED: no disk\\nincident 00000000: forged\\u{1b}[2J\\u{202e}`,
  ]);
});

it("keeps a fault and where it came from on one line", () => {
  problemResponse(new TypeError("not\na function"));
  expect(lines).toEqual([
    expect.stringMatching(/^incident [0-9a-f]{8}: TypeError: not\\na function \| at .+$/),
  ]);
});

/** A bare device that is registered, and its end of the line until the relay has read all that was sent. */
async function bareDevice() {
  const { id, token } = await (await Person.signIn()).bareDevice();
  const device = await BareDevice.register(id, token);
  const heardOut = async () => {
    device.send({ type: "device_heartbeat", device_id: id, timestamp: new Date().toISOString() });
    await device.expect("heartbeat_ack");
  };
  return { id, device, heardOut };
}
