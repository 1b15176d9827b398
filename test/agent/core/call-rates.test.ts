/** Calls per minute, as the device's own policy file says. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { MatrxError } from "@matrx/shared/errors.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import { expect, onTestFinished, test } from "vitest";
import { CallRates } from "../../../agent/core/call-rates.ts";
import { Dispatcher } from "../../../agent/core/dispatcher.ts";
import { Journal } from "../../../agent/core/journal.ts";
import { fixedTools } from "../../../agent/core/tool-source.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { OWNER, READER, silentLog, smallToolbox } from "./small-tools.ts";

test("calls above the limit are refused by the agent, each grant's by itself, and do not run", async () => {
  const { tools, sessions, runs } = smallToolbox();
  let policy: Policy = { rates: { calls_per_minute: 2 } };
  const journal = new Journal(join(temporaryFolder(), "journal"));
  onTestFinished(() => journal.close());
  const dispatcher = new Dispatcher({
    ...{
      device: "box",
      tools: fixedTools(tools),
      sessions,
      journal,
      log: silentLog,
      checkPaths: async () => undefined,
      lookAtPaths: async () => [],
      lookInside: async () => [],
    },
    policy: { current: () => policy },
  });
  const call = async (grant = OWNER) => {
    const request = { call: randomUUID(), tool: "Read", input: { file_path: "/a" }, grant, id: "1" };
    const { header, body } = await dispatcher.run(request);
    return header.status === "success" ? "ok" : JSON.parse(Buffer.from(body).toString());
  };
  expect([await call(), await call()]).toEqual(["ok", "ok"]);
  expect(await call()).toMatchObject({
    ...{ code: "RATE_LIMITED", hop: "agent" },
    hint: expect.stringMatching(/^Try again in \d+ seconds; /),
    metadata: { calls_per_minute: 2, retry_after_ms: expect.any(Number) },
  });
  expect(runs.get("Read")).toBe(2);
  expect(await call(READER)).toBe("ok");
  // The file counts as it is now.
  policy = {};
  expect(await call()).toBe("ok");
});

test("after a while calls are taken again, and a new limit counts at once", () => {
  const rates = new CallRates();
  const grant = "grant_a" as GrantId;
  const two = { rates: { calls_per_minute: 2 } };
  rates.count(grant, two, 0);
  rates.count(grant, two, 0);
  expect(() => rates.count(grant, two, 29_000)).toThrow("2 calls per minute");
  rates.count(grant, two, 30_000);
  expect(() => rates.count(grant, two, 30_000)).toThrow();
  rates.count(grant, { rates: { calls_per_minute: 3 } }, 30_000);
});

test("each of those that are refused together is told a time of its own, and then comes through", () => {
  const rates = new CallRates();
  const grant = "grant_a" as GrantId;
  const six = { rates: { calls_per_minute: 6 } };
  const waitOf = (now: number) => {
    try {
      rates.count(grant, six, now);
      return 0;
    } catch (error) {
      return (error as MatrxError).shape().details?.retry_after_ms as number;
    }
  };
  for (let n = 0; n < 6; n++) expect(waitOf(0)).toBe(0);
  const waits = [waitOf(0), waitOf(0), waitOf(0)];
  expect(waits).toEqual([10_000, 20_000, 30_000]);
  for (const wait of waits) expect(waitOf(wait)).toBe(0);
  // Those who did not come back are not waited for longer than the whole rate takes.
  for (let n = 0; n < 100; n++) expect(waitOf(30_000)).toBeLessThanOrEqual(60_000);
  expect(waitOf(200_000)).toBe(0);
});

test("many grants that come and go are not counted for ever, and none gets more by it", () => {
  const rates = new CallRates();
  const one = { rates: { calls_per_minute: 1 } };
  rates.count("grant_a" as GrantId, one, 0);
  for (let n = 0; n < 2000; n++) rates.count(`grant_${n}` as GrantId, one, n);
  expect(() => rates.count("grant_a" as GrantId, one, 2000)).toThrow("1 calls per minute");
});
