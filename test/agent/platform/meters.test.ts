/** What each system counts, as its own programs and files say it; macOS and Windows are not run here. */
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { darwinMeter, parseNetstat } from "../../../agent/platform/darwin/meter.ts";
import {
  linuxMeter,
  parseDisks,
  parseInterfaces,
  parseMemory,
  parseProcessors,
} from "../../../agent/platform/linux/meter.ts";
import { parseCounters, windowsMeter } from "../../../agent/platform/windows/meter.ts";
import { temporaryFolder } from "../../helpers/folder.ts";

const KiB = 1024;
const MiB = 1024 * 1024;

describe("Linux", () => {
  it("counts waiting for a disk as idle, stolen time as busy, and guests once", () => {
    const text = "cpu  110 20 30 400 50 6 7 8 9 0\ncpu0 110 20 30 400 50 6 7 8 9 0\ncpu1 1 0 0 9\nintr 5\n";
    expect(parseProcessors(text)).toEqual([
      { busy: 181, total: 631 },
      { busy: 1, total: 10 },
    ]);
    expect(parseProcessors("")).toEqual([]);
  });

  it.each([
    [
      "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 700 kB\nBuffers: 1 kB\nCached: 2 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\n",
      { total: 1000, available: 700, swapTotal: 50, swapUsed: 30 },
    ],
    [
      "MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 20 kB\nCached: 300 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
      { total: 1000, available: 420, swapTotal: 0, swapUsed: 0 },
    ],
  ])("tells memory as the kernel does, and for an old one from its parts: %j", (text, kib) => {
    const wanted = Object.fromEntries(Object.entries(kib).map(([name, size]) => [name, size * KiB]));
    expect(parseMemory(text)).toEqual(wanted);
  });

  it("tells interfaces, whatever their names", () => {
    const text = [
      "Inter-|   Receive                                                |  Transmit",
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed",
      "    lo: 100 1 0 0 0 0 0 0 200 1 0 0 0 0 0 0",
      "br-1a2b:9876543210 1 0 0 0 0 0 0 12 1 0 0 0 0 0 0",
      "eth0:1: 5 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0",
    ].join("\n");
    expect(parseInterfaces(text)).toEqual([
      { name: "lo", loopback: true, received: 100, sent: 200 },
      { name: "br-1a2b", loopback: false, received: 9_876_543_210, sent: 12 },
      { name: "eth0:1", loopback: false, received: 5, sent: 6 },
    ]);
  });

  it("counts whole disks: no partitions, nothing that lies on other disks or in memory", () => {
    const text = [
      "   7       0 loop0 9 9 9 9 9 9 9 9 0 0 0",
      " 259       0 nvme0n1 5 0 100 7 5 0 10 7 0 0 0",
      " 259       1 nvme0n1p1 5 0 100 7 5 0 10 7 0 0 0",
      " 253       0 dm-0 5 0 100 7 5 0 10 7 0 0 0",
      "   8       0 sda 1 0 2 3 4 0 6 7 0 0 0 0 0 0 0 0 0",
      "",
    ].join("\n");
    const devices = ["loop0", "nvme0n1", "dm-0", "sda"];
    expect(parseDisks(text, devices)).toEqual({ read: 102 * 512, written: 16 * 512 });
    expect(parseDisks(text, ["loop0"])).toBeNull();
    expect(parseDisks("", devices)).toBeNull();
  });

  it.each([
    ["no sensors", {}, null],
    [
      "sensors of drivers, without those that are not connected",
      {
        "class/hwmon/hwmon10/name": "nvme\n",
        "class/hwmon/hwmon10/temp1_input": "38850\n",
        "class/hwmon/hwmon2/name": "coretemp\n",
        "class/hwmon/hwmon2/temp1_input": "51000\n",
        "class/hwmon/hwmon2/temp1_label": "Package id 0\n",
        "class/hwmon/hwmon2/temp2_input": "-273000\n",
        "class/hwmon/hwmon2/temp3_input": "\n",
        "class/hwmon/hwmon2/fan1_input": "900\n",
        "class/thermal/thermal_zone0/type": "acpitz\n",
        "class/thermal/thermal_zone0/temp": "20000\n",
      },
      [
        { name: "coretemp Package id 0", celsius: 51 },
        { name: "nvme", celsius: 38.85 },
      ],
    ],
    [
      "thermal zones, where there is nothing else",
      { "class/thermal/thermal_zone0/type": "cpu-thermal\n", "class/thermal/thermal_zone0/temp": "48312\n" },
      [{ name: "cpu-thermal", celsius: 48.312 }],
    ],
  ])("reads temperatures: %s", async (_title, files, wanted) => {
    const sys = temporaryFolder();
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(sys, name)), { recursive: true });
      writeFileSync(join(sys, name), content);
    }
    const { temperatures, ...rest } = await linuxMeter({ proc: "/nowhere", sys }).read();
    expect(temperatures).toEqual(wanted);
    // Where /proc is closed, nothing is known, and nothing fails.
    expect(rest).toMatchObject({ processors: [], interfaces: [], disks: null, memory: { total: 0 } });
  });

  it("is read here as it is", async () => {
    const { processors, memory, interfaces } = await linuxMeter().read();
    expect(processors.length).toBeGreaterThanOrEqual(availableParallelism());
    for (const { busy, total } of processors) expect(busy).toBeLessThanOrEqual(total);
    expect(memory.total).toBeGreaterThan(memory.available);
    expect(interfaces.map(({ name }) => name)).toContain("lo");
  });
});

describe("macOS", () => {
  const printed = [
    "Name       Mtu   Network       Address            Ipkts Ierrs     Ibytes    Opkts Oerrs     Obytes  Coll",
    "lo0        16384 <Link#1>                        1000     0     111000     1000     0     111000     0",
    "lo0        16384 127           127.0.0.1         1000     -     111000     1000     -     111000     -",
    "en0        1500  <Link#11>   3c:22:fb:00:00:01  500000     0  734003200   300000     0   41943040     0",
    "en0        1500  192.168.1     192.168.1.7      500000     -  734003200   300000     -   41943040     -",
    "en5*       1500  <Link#4>    ac:de:48:00:11:22       0     0          0        0     0          0     0",
    "utun0      1380  <Link#17>                          12     0       3400       15     0       5600     0",
    "",
  ].join("\n");

  test("netstat tells each interface once, by its link", () => {
    expect(parseNetstat(printed)).toEqual([
      { name: "lo0", loopback: true, received: 111_000, sent: 111_000 },
      { name: "en0", loopback: false, received: 734_003_200, sent: 41_943_040 },
      { name: "en5", loopback: false, received: 0, sent: 0 },
      { name: "utun0", loopback: false, received: 3400, sent: 5600 },
    ]);
  });

  test.each([
    [
      { rx: 10, wx: 20 },
      { read: 10, written: 20 },
    ],
    [null, null],
  ])("the library tells memory and disks: %j", async (stats, disks) => {
    const memory = { total: 100, available: 60, swaptotal: 9, swapused: 4 };
    const library = async () => ({ mem: async () => memory, fsStats: async () => stats });
    const reading = await darwinMeter({ library, netstat: async () => printed }).read();
    expect(reading).toMatchObject({
      memory: { total: 100, available: 60, swapTotal: 9, swapUsed: 4 },
      disks,
      temperatures: null,
    });
    expect(reading.interfaces).toHaveLength(4);
    expect(reading.processors.length).toBeGreaterThan(0);
    const silent = async () => Promise.reject(new Error("netstat is not there"));
    expect((await darwinMeter({ library, netstat: silent }).read()).interfaces).toEqual([]);
  });
});

describe("Windows", () => {
  test.each([
    [
      "all that there can be",
      {
        disk: { read: "734003200", written: 41_943_040 },
        page_files: [
          { size: 1024, used: 10 },
          { size: 512, used: 2 },
        ],
        zones: [{ name: "ACPI\\ThermalZone\\TZ00_0", value: 3032 }],
        cards: [{ name: "Ethernet", loopback: false, received: 7, sent: 8 }],
      },
      {
        disks: { read: 734_003_200, written: 41_943_040 },
        temperatures: [{ name: "ACPI\\ThermalZone\\TZ00_0", celsius: 30.1 }],
        interfaces: [{ name: "Ethernet", loopback: false, received: 7, sent: 8 }],
        ...{ swapTotal: 1536 * MiB, swapUsed: 12 * MiB },
      },
    ],
    [
      "a user who may know little, and no page file",
      { disk: null, page_files: [], zones: [], cards: [] },
      { disks: null, temperatures: null, interfaces: [], swapTotal: 0, swapUsed: 0 },
    ],
  ])("the answer of its counters: %s", (_title, answer, wanted) => {
    expect(parseCounters(JSON.stringify(answer))).toEqual(wanted);
  });

  test.each([
    ["an answer of another shape", async () => "{}"],
    ["no PowerShell", () => Promise.reject(new Error("it ended"))],
  ])("%s: what is known without it is told, and it is not asked each time", async (_title, answer) => {
    let asked = 0;
    const meter = windowsMeter(() => {
      asked++;
      return answer();
    });
    await meter.read();
    const { processors, memory, ...rest } = await meter.read();
    expect(rest).toMatchObject({ disks: null, interfaces: [], temperatures: null });
    expect(processors.length).toBeGreaterThan(0);
    expect(memory.total).toBeGreaterThan(memory.available);
    expect(asked).toBe(1);
  });
});
