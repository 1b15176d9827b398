/** Problems of the agent itself: said once, without secrets, and ended; and what its owner may set. */
import { expect, onTestFinished, test, vi } from "vitest";
import { keyOf } from "../../../agent/monitors/condition.ts";
import { Problems } from "../../../agent/monitors/problems.ts";
import { repeat } from "../../../agent/monitors/repeat.ts";
import { monitorSettings, rawMonitorsSchema } from "../../../agent/monitors/settings.ts";
import { heardParts } from "./parts.ts";

test("the same fault is told once in ten minutes, and then how often it came", () => {
  const { emit, reports } = heardParts();
  const problems = new Problems(emit);
  for (let n = 0; n < 50; n++) problems.happened({ message: "the journal is full" }, n);
  problems.happened({ message: "something else" }, 60);
  expect(reports.map(({ data }) => data.message)).toEqual(["the journal is full", "something else"]);
  problems.happened({ message: "the journal is full" }, 600_001);
  expect(reports[2]).toMatchObject({ type: "error_occurred", data: { repeats: 49 } });
});

test("a flood of different faults is not remembered for ever", () => {
  const { emit, reports } = heardParts();
  const problems = new Problems(emit);
  for (let n = 0; n < 1000; n++) problems.happened({ message: `fault ${n}` }, n);
  problems.happened({ message: "fault 999" }, 1001);
  expect(reports).toHaveLength(1000);
});

test("secrets stay here", () => {
  const { emit, reports } = heardParts();
  const problems = new Problems(emit);
  problems.happened({ message: "failed: password=hunter22", cause: "Bearer abcdefghijkl was refused" }, 0);
  expect(JSON.stringify(reports)).not.toMatch(/hunter22|abcdefghijkl/);
});

test("what lasts is told when it begins and when it is over; what is not watched any more is over", () => {
  const { emit, reports } = heardParts();
  const problems = new Problems(emit, ["folder /gone", "folder /there"]);
  problems.clearUnknown(["folder /there"]);
  problems.raise("folder /there", { message: "it is not there" });
  problems.raise("folder /there", { message: "it is not there" });
  problems.clear("folder /there", "it is watched again");
  problems.clear("folder /there", "it is watched again");
  expect(reports.map(({ key, resolved }) => [key, resolved])).toEqual([
    ["folder /gone", true],
    ["folder /there", undefined],
    ["folder /there", true],
  ]);
});

test("a key always fits its frame, and two long ones stay two", () => {
  const [one, other] = ["a", "b"].map((end) => keyOf("x".repeat(400) + end));
  expect(one?.length).toBeLessThanOrEqual(256);
  expect(one).not.toBe(other);
  expect(keyOf("/home")).toBe("/home");
});

test("a look that fails is told, and the next one comes all the same; after the end none comes", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const ends: (string | undefined)[] = [];
  let looks = 0;
  const repeated = repeat({
    look: async () => {
      if (looks++ === 0) throw new Error("no");
      return 1000;
    },
    againMs: 100,
    onEnd: (failure) => ends.push(failure?.message),
  });
  await vi.advanceTimersByTimeAsync(3000);
  expect(ends.slice(0, 2)).toEqual(["no", undefined]);
  expect(looks).toBeGreaterThanOrEqual(3);
  repeated.close();
  expect(vi.getTimerCount()).toBe(0);
});

test("nothing set: disks and processors are watched, folders and services are the owner's to name", () => {
  expect(monitorSettings()).toEqual({
    low_disk_space: { enabled: true, percentage_free: 10, every_seconds: 60 },
    high_cpu_usage: { enabled: true, percentage: 90, minutes: 5, every_seconds: 30 },
    new_file_detected: { folders: [] },
    service_down: { services: [], every_seconds: 60, timeout_seconds: 10, failures: 3 },
  });
});

test("what the owner wrote is kept as it is, and defaults stand in for the rest", () => {
  const raw = { new_file_detected: { folders: [{ path: "~/inbox" }] } };
  expect(rawMonitorsSchema.parse(raw)).toEqual(raw);
  expect(monitorSettings(raw).new_file_detected.folders).toEqual([
    { path: "~/inbox", depth: 2, max_entries: 10_000, report: ["added"] },
  ]);
});

test.each([
  [{ low_disk_space: { every_seconds: 5 } }, "low_disk_space.every_seconds"],
  [{ new_file_detected: { folders: [{ path: "inbox" }] } }, "new_file_detected.folders.0.path"],
  [{ service_down: { services: [{ name: "a", url: "ftp://x" }] } }, "service_down.services.0.url"],
  [{ service_down: { services: [{ name: "a", host: "x", port: 0 }] } }, "service_down.services.0.port"],
  [
    {
      service_down: {
        services: [
          { name: "a", host: "x", port: 1 },
          { name: "a", host: "y", port: 1 },
        ],
      },
    },
    "service_down.services",
  ],
  // Of an unknown key the message says the name.
  [{ low_disk: {} }, ""],
])("a wrong setting is refused by name: %j", (raw, path) => {
  const { error } = rawMonitorsSchema.safeParse(raw);
  expect(error?.issues[0]?.path.join(".")).toBe(path);
});
