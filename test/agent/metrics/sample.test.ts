/** What two readings of a machine's counters say. */
import { expect, test } from "vitest";
import { sampleOf, sampleSchema } from "../../../agent/metrics/sample.ts";
import type { Reading } from "../../../agent/platform/meter.ts";

const around = {
  now: Date.UTC(2026, 10, 25),
  load: [1, 2, 3],
  uptimeSeconds: 4,
  drives: { uses: [{ drive: "/", freeBytes: 1, totalBytes: 10, usedBytes: 8 }], silent: ["/dead"] },
};

function reading(at: number, more: Partial<Reading> = {}): Reading {
  return {
    at,
    processors: [],
    memory: { total: 100, available: 60, swapTotal: 0, swapUsed: 0 },
    ...{ disks: null, interfaces: [], temperatures: null },
    ...more,
  };
}

const card = (received: number, sent: number, name = "eth0") => ({ name, loopback: false, received, sent });

test("percentages and rates are those of the time in between", () => {
  const before = reading(1000, {
    processors: [
      { busy: 100, total: 1000 },
      { busy: 0, total: 1000 },
    ],
    disks: { read: 0, written: 1000 },
    interfaces: [card(1000, 5000)],
  });
  const now = reading(3000, {
    processors: [
      { busy: 200, total: 1100 },
      { busy: 25, total: 1100 },
    ],
    disks: { read: 500, written: 3000 },
    interfaces: [card(2001, 5000)],
    temperatures: [{ name: "cpu", celsius: 51 }],
  });
  const sample = sampleOf(before, now, around);
  expect(sampleSchema.strict().parse(sample)).toEqual({
    ...{ at: "2026-11-25T00:00:00.000Z", over_ms: 2000, uptime_seconds: 4 },
    cpu: { percent: 62.5, cores: [100, 25], load: [1, 2, 3] },
    memory: {
      ...{ total_bytes: 100, used_bytes: 40, available_bytes: 60 },
      ...{ swap_total_bytes: 0, swap_used_bytes: 0 },
    },
    disks: [{ name: "/", total_bytes: 10, used_bytes: 8, free_bytes: 1 }],
    silent_disks: ["/dead"],
    disk_traffic: {
      ...{ read_bytes_per_second: 250, written_bytes_per_second: 1000 },
      ...{ read_bytes: 500, written_bytes: 3000 },
    },
    network: [
      {
        ...{ name: "eth0", loopback: false, received_bytes_per_second: 501, sent_bytes_per_second: 0 },
        ...{ received_bytes: 2001, sent_bytes: 5000 },
      },
    ],
    more_interfaces: 0,
    temperatures: [{ name: "cpu", celsius: 51 }],
  });
});

test.each([
  ["no time between", [{ busy: 1, total: 9 }], [{ busy: 1, total: 9 }], null, [null]],
  [
    "a processor came",
    [{ busy: 1, total: 9 }],
    [
      { busy: 2, total: 19 },
      { busy: 1, total: 1 },
    ],
    null,
    [null, null],
  ],
  ["the system tells nothing", [], [], null, []],
  ["times that go back", [{ busy: 5, total: 9 }], [{ busy: 4, total: 19 }], 0, [0]],
  ["more busy than there was time", [{ busy: 0, total: 9 }], [{ busy: 50, total: 19 }], 100, [100]],
])("a percentage is one, or not known: %s", (_title, before, now, percent, cores) => {
  const { cpu } = sampleOf(reading(0, { processors: before }), reading(1, { processors: now }), around);
  expect(cpu).toMatchObject({ percent, cores });
});

test("a counter that is new, or began again, has no rate yet", () => {
  const before = reading(0, { interfaces: [card(1000, 1000)] });
  const now = reading(1000, {
    interfaces: [card(10, 1500), card(7, 7, "tun0")],
    disks: { read: 9, written: 9 },
  });
  const { network, disk_traffic } = sampleOf(before, now, around);
  expect(network).toMatchObject([
    { name: "eth0", received_bytes_per_second: 0, sent_bytes_per_second: 500, received_bytes: 10 },
    { name: "tun0", received_bytes_per_second: 0, sent_bytes_per_second: 0 },
  ]);
  expect(disk_traffic).toMatchObject({ read_bytes_per_second: 0, written_bytes_per_second: 0 });
});

test("of many interfaces those with traffic are told, each in its place, and the others counted", () => {
  const idle = Array.from({ length: 200 }, (_, index) => card(0, 0, `veth${index}`));
  const interfaces = [...idle.slice(0, 100), card(5, 5, "busy"), ...idle.slice(100), card(1, 0, "last")];
  const { network, more_interfaces } = sampleOf(reading(0), reading(1, { interfaces }), around);
  const names = network.map(({ name }) => name);
  expect(names).toHaveLength(64);
  expect(names.slice(-2)).toEqual(["busy", "last"]);
  expect(more_interfaces).toBe(202 - 64);
});
