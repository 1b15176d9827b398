/** The monitor of a machine that tells what no machine should: the page stays calm, small and readable. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { cases } from "../helpers/long-mode.ts";
import { expectFitting, expectNoObjections, startApp } from "./app.ts";
import { type FakeCall, fakeMachine } from "./fake-machine.ts";

const MOST_ELEMENTS = 12_000;
const NAME = `<img src=x onerror="document.title='owned'">\n\u202egpj.\u001b[31m`;
const LONG = "n".repeat(1_000_000);

const sample = (more: object = {}) => ({
  at: new Date().toISOString(),
  cpu: { percent: 12, cores: [10, 14], load: [0.5, 0.4, 0.3] },
  memory: { used_bytes: 1024, total_bytes: 4096, swap_used_bytes: 0, swap_total_bytes: 0 },
  ...{ disks: [], silent_disks: [], disk_traffic: null, network: [], temperatures: null, uptime_seconds: 60 },
  ...more,
});

describe("the monitor of a hostile machine", NEEDS_CHROMIUM, () => {
  const app = startApp();
  const monitor = (view = "") => `/d/${app.machine.id}/monitor${view && `?view=${view}`}`;
  const elements = (page: Page) => page.evaluate<number>("document.querySelectorAll('*').length");
  const table = (page: Page) => page.getByText(/^The last \d+ samples? as a table$/);
  const count = async (page: Page) => Number.parseInt((await table(page).innerText()).slice(9), 10);

  /** A machine that answers with this, and sends lines as it likes. */
  async function open(serve: (call: FakeCall) => unknown, view = "") {
    const opened = await app.open("/settings");
    const machine = await fakeMachine(opened.page, serve);
    await opened.page.goto(`${app.relay.url}${monitor(view)}`);
    return { ...opened, opened, machine };
  }

  const metrics = (metadata: unknown) => (call: FakeCall) =>
    call.tool === "SystemMetrics" && call.answer(metadata);

  test("figures that can't be are not known, and names are text", async () => {
    const { page, opened } = await open(
      metrics({
        at: "1970-01-01T00:00:00Z",
        cpu: {
          percent: -5,
          cores: Array.from({ length: 200_000 }, () => 1e308),
          load: ["a", null, -1, 1e300],
        },
        memory: { used_bytes: 1e308, total_bytes: 0, swap_used_bytes: -1, swap_total_bytes: 1e18 },
        disks: Array.from({ length: 5_000 }, () => ({ name: NAME, used_bytes: 0, total_bytes: 0 })),
        silent_disks: [LONG, 7, null],
        disk_traffic: { read_bytes_per_second: -1, written_bytes_per_second: 1e308 },
        network: Array.from({ length: 64 }, (_, at) => ({
          ...{ name: at === 0 ? LONG : NAME, loopback: "no" },
          ...{ received_bytes_per_second: Number.MAX_SAFE_INTEGER, sent_bytes_per_second: 1e308 },
        })),
        temperatures: [{ name: NAME, celsius: -1e9 }, { name: NAME, celsius: "hot" }, 5],
        uptime_seconds: 9e15,
      }),
    );
    await page.getByRole("region", { name: "Memory" }).getByText("not known").first().waitFor();
    // One sample is no line yet, and its time no axis.
    await expect.poll(() => page.getByText("Collecting …").count()).toBe(4);
    expect(await page.locator("canvas").count()).toBe(0);
    await page.getByText("Each of 1024 cores").waitFor();
    await page.getByText(String.raw`\u{202E}gpj.\u{1B}[31m`).first().waitFor();
    expect(await page.locator("main").innerText()).not.toMatch(/NaN|Infinity|undefined|\[object|e\+\d|-\d/);
    expect(await elements(page)).toBeLessThan(MOST_ELEMENTS);
    expect(await page.title()).not.toContain("owned");
    await expectNoObjections(opened);
    await page.getByText("Each of 1024 cores").click();
    await page.getByText("Core 1024").waitFor();
  });

  test.each(cases([null, 7, "text", [], { at: 5 }, { at: "yesterday" }]))(
    "an answer of the form %j is no sample",
    async (answer) => {
      const { page, faults } = await open(metrics(answer));
      await page.getByText("Live", { exact: true }).waitFor();
      expect(await table(page).count()).toBe(0);
      expect(faults).toEqual([]);
    },
  );

  test("a flood of samples is thinned out, and the page goes on to answer", async () => {
    let isOpen = true;
    let began = 0;
    const { page, faults } = await open(async (call) => {
      began ||= performance.now();
      call.answer(sample());
      const lines = new TextEncoder().encode(`${JSON.stringify(sample())}\n`.repeat(20));
      while (isOpen) await call.stream.write(lines).catch(() => (isOpen = false));
    });
    await expect.poll(() => count(page)).toBeGreaterThanOrEqual(7);
    // However late that was seen: between two there is half a second.
    expect(performance.now() - began).toBeGreaterThan(2_900);
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText(/^Paused/).waitFor();
    isOpen = false;
    expect(faults).toEqual([]);
  });

  test("a machine's clock that goes backwards or stands still moves nothing here", async () => {
    const hours = [5, 4, 4, 9];
    const { page, faults } = await open(async (call) => {
      call.answer(sample({ at: "2001-01-01T06:00:00Z" }));
      for (const [seen, hour] of hours.entries()) {
        // Each has a time of its own here, which is told in seconds.
        await expect.poll(() => count(page)).toBe(seen + 1);
        await page.waitForTimeout(600);
        const line = JSON.stringify(sample({ at: `2001-01-01T0${hour}:00:00Z` }));
        await call.stream.write(new TextEncoder().encode(`${line}\n`));
      }
    });
    await expect.poll(() => count(page)).toBe(5);
    await table(page).click();
    const times = await page.getByRole("group", { name: "Samples" }).getByRole("row").allInnerTexts();
    const year = new Date().toLocaleTimeString();
    expect(times).toHaveLength(6);
    expect(new Set(times).size, `all are of about ${year}`).toBeGreaterThan(3);
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText(/^Paused · as of \d/).waitFor();
    expect(await page.getByText("2001").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("samples that stop are told; those that come again are, too", async () => {
    let stream: FakeCall["stream"] | undefined;
    const { page, faults } = await open((call) => {
      call.answer(sample());
      stream = call.stream;
    });
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByText(/^No new figures · as of/).waitFor();
    await stream?.write(new TextEncoder().encode(`${JSON.stringify(sample())}\n`));
    await page.getByText("Live", { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test("a stream that ends at once is not opened again and again", async () => {
    const { page, machine, faults } = await open(async (call) => {
      call.answer(sample());
      await call.stream.end();
    });
    await page.getByText(/^Reconnecting/).waitFor();
    await expect.poll(() => machine.calls.length).toBeGreaterThanOrEqual(3);
    const before = machine.calls.length;
    await page.waitForTimeout(2_500);
    expect(machine.calls.length - before).toBeLessThanOrEqual(2);
    expect(faults).toEqual([]);
  });

  test("what is no line of samples ends the stream, and is said", async () => {
    const { page, faults } = await open(async (call) => {
      call.answer(sample());
      await call.stream.write(new TextEncoder().encode("x".repeat(600_000))).catch(() => undefined);
    });
    await page.getByRole("alert").getByText("The machine sends figures that can't be read here").waitFor();
    await page.getByRole("alert").getByRole("button", { name: "Try again" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("an error of a wrong form is an error", async () => {
    const { page, faults } = await open((call) =>
      call.say({ type: "error", code: 7, output: { a: [] }, hop: 5 }),
    );
    await page.getByRole("alert").getByText("The call ended, and its answer can't be read here.").waitFor();
    expect(faults).toEqual([]);
  });

  test("of 100,000 processes and 50,000 connections, no more are shown than were asked for", async () => {
    const processes = Array.from({ length: 100_000 }, (_, at) => ({
      ...{ pid: at % 150, name: NAME, command: at === 0 ? LONG : NAME, user: at === 1 ? LONG : 5 },
      ...{
        cpu_percent: -1e308,
        memory_bytes: 1e308,
        started: at % 150 === 3 ? "never" : "2026-01-01T00:00:00Z",
      },
    }));
    const sockets = Array.from({ length: 50_000 }, () => ({
      ...{ protocol: LONG, local: { address: LONG, port: -5 }, remote: { address: 5, port: "x" } },
      ...{ state: LONG, pid: 1.5, process: NAME },
    }));
    const { page, opened } = await open((call) => {
      if (call.tool === "ListProcesses") call.answer({ processes, matching: -3, total: "many" });
      if (call.tool === "NetworkConnections")
        call.answer({
          sockets: sockets
            .slice(0, 3_000)
            .map((one) => ({ ...one, protocol: "tcp", state: NAME, local: { address: NAME, port: 5 } })),
          matching: 50_000,
        });
    }, "processes");
    await page.getByRole("row").nth(1).waitFor();
    expect(await page.getByRole("row").count()).toBe(151);
    const text = await page.locator("main").innerText();
    expect(text).not.toMatch(/NaN|Infinity|Invalid|undefined|\[object|e\+\d/);
    expect(text.length).toBeLessThan(100_000);
    await expectFitting(opened);
    await page.getByRole("link", { name: "Connections" }).click();
    await page.getByText("1000 connections, and 49000 that are not shown").waitFor();
    expect(await page.getByRole("row").count()).toBe(1001);
    await expectFitting(opened);
  });

  test.each(
    cases([null, 7, { processes: 5, sockets: "x" }, { processes: [null, 5, "x", {}], sockets: [null] }]),
  )("answers of the form %j are tables with nothing in them", async (answer) => {
    for (const view of ["processes", "connections"]) {
      const { page, faults } = await open((call) => call.answer(answer), view);
      await page.locator("table").waitFor();
      expect(faults).toEqual([]);
    }
  });
});
