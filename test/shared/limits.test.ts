import { readFileSync } from "node:fs";
import { join } from "node:path";
import { LIMITS, RATES, TIMES } from "@matrx/shared/limits.ts";
import { describe, expect, it, test } from "vitest";

describe("limits fit into each other", () => {
  test("every frame into what the platform carries", () => {
    const { callFrameBytes, resultFrameBytes, registerFrameBytes, deviceFrameBytes, outputFrameBytes } =
      LIMITS;
    const frames = [callFrameBytes, resultFrameBytes, registerFrameBytes, deviceFrameBytes, outputFrameBytes];
    for (const bytes of frames) expect(bytes).toBeLessThan(LIMITS.platformFrameBytes);
  });

  test("a call with its envelope into the frame for the device", () => {
    expect(LIMITS.callFrameBytes + 64 * 1024).toBeLessThan(LIMITS.platformFrameBytes);
    expect(LIMITS.deviceQueueMaxBytes).toBeGreaterThan(LIMITS.callFrameBytes);
  });

  test("the largest result into a caller's queue", () => {
    expect(LIMITS.callerQueueMaxBytes).toBeGreaterThan(LIMITS.resultFrameBytes + LIMITS.callerQueueBytes);
  });

  test("unanswered calls into an attachment of 16 KiB", () => {
    // ["",CALL,DEADLINE,"goes_on"], beside the ids' own bytes.
    const each = JSON.stringify(["", "0199d3a4-7c1e-7b52-9f3e-2d6a8c410e75", 2 ** 42, "goes_on"]).length + 1;
    const calls = LIMITS.unansweredIdBytes + LIMITS.unansweredPerSession * each;
    const streams =
      LIMITS.byteStreamsPerConnection * (JSON.stringify([2 ** 31, 2 ** 22, "execute"]).length + 1);
    expect(calls).toBeLessThan(15 * 1024);
    expect(calls + streams + 600).toBeLessThan(16 * 1024);
  });

  test("as many ids as calls, of ordinary length", () => {
    const guideId = "req-1707500000000-abc1";
    expect(LIMITS.unansweredPerSession * guideId.length).toBeLessThan(LIMITS.unansweredIdBytes);
  });

  test("outcomes into their stores", () => {
    expect(LIMITS.ledgerOutcomeBytes).toBeLessThan(LIMITS.ledgerBytes);
    expect(LIMITS.resultFrameBytes).toBeLessThan(LIMITS.journalBytes);
  });
});

describe("times follow on each other", () => {
  test("two heartbeats may be missed, not three", () => {
    const twice = 2 * TIMES.heartbeat + TIMES.pongWithin;
    expect(TIMES.silentAfter).toBeGreaterThanOrEqual(twice);
    expect(TIMES.silentAfter).toBeLessThan(twice + TIMES.heartbeat);
  });

  test("an agent that is well is never asked for a sign of life, and one that dials again by itself is idle", () => {
    expect(TIMES.askAfter).toBeGreaterThan(TIMES.heartbeat);
    expect(TIMES.agentIdleAfter).toBe(TIMES.heartbeat + TIMES.pongWithin);
    expect(TIMES.askAfter + TIMES.signWithin).toBeLessThanOrEqual(TIMES.agentIdleAfter);
    expect(TIMES.signWithin).toBeLessThan(TIMES.deadlineGrace);
  });

  test("the device document's states, rates and heartbeat are its own", () => {
    expect(TIMES.idleAfter).toBe(60_000);
    expect(TIMES.offlineAfter).toBe(300_000);
    expect(RATES.bare).toMatchObject({ messages_per_second: 10, calls_per_minute: 20 });
    expect(RATES.heartbeatEvery).toBe(10_000);
  });

  test("the guide's deadlines fit", () => {
    expect(TIMES.callMax).toBe(600_000);
    expect(TIMES.callDefault).toBeLessThanOrEqual(TIMES.callMax);
  });

  test("a lease is renewed before it ends", () => {
    expect(TIMES.leaseRenew).toBeLessThan(TIMES.lease);
  });

  test("a call without a deadline is answered while REST holds, or soon after", () => {
    expect(TIMES.callDefault).toBeLessThanOrEqual(TIMES.restHold);
  });
});

it("every limit says its enforcer", () => {
  const source = readFileSync(join(import.meta.dirname, "../../shared/limits.ts"), "utf8");
  const names = [...Object.keys(LIMITS), ...Object.keys(TIMES)];
  const silent = names.filter(
    (name) =>
      !new RegExp(`/\\*\\* .*(Relay|[Aa]gent|local server|programs)[^/]*\\*/\\n +${name}:`).test(source),
  );
  expect(silent).toEqual([]);
});
