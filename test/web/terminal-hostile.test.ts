/** A terminal on a machine, or with a program in it, that wants to harm the person who looks at it. */
import type { CDPSession, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectNoObjections, startApp } from "./app.ts";
import { type FakeCall, fakeMachine } from "./fake-machine.ts";
import { expectOnScreen, screenOf } from "./terminal.ts";

const ATTACHED = { type: "attached", sequence: 0, cols: 80, rows: 24, snapshot: true, snapshot_bytes: 0 };
const HOSTILE = `<img src=x onerror="document.title='owned'">\u202egpj.\u001b[31m`;
const encoder = new TextEncoder();

describe("a hostile terminal", NEEDS_CHROMIUM, () => {
  const app = startApp();

  interface Fake {
    readonly list: readonly object[];
    readonly screen: "desktop" | "phone";
    attached(call: FakeCall): unknown;
  }

  async function open({ list = [], attached, screen = "desktop" }: Partial<Fake> = {}) {
    const opened = await app.open("/settings", {
      screen,
      context: { permissions: ["clipboard-read", "clipboard-write"] },
    });
    const { page } = opened;
    const typed: string[] = [];
    let made = 0;
    const machine = await fakeMachine(page, async (call) => {
      if (call.tool === "TerminalList") return call.answer({ terminals: list });
      if (call.tool === "TerminalCreate") {
        made += 1;
        return call.answer({ terminal: `term_${made}`, shell: "/bin/sh" });
      }
      if (call.tool !== "TerminalAttach") return call.refuse("NOT_FOUND", "no such tool");
      call.answer({});
      void reading(call, typed).catch(() => undefined);
      await attached?.(call);
    });
    await page.goto(`${app.relay.url}/d/${app.machine.id}/terminal`);
    return { ...opened, opened, machine, typed };
  }

  async function opensOne(page: Page): Promise<void> {
    await page.getByRole("button", { name: "New terminal", exact: true }).click();
    await page.locator(".xterm").first().waitFor();
  }

  test("answers to a program hold nothing of what it wrote", async () => {
    const secret = "sudo-evil";
    const questions = [
      ...["\u001b[c", "\u001b[>c", "\u001b[=c", "\u001b[>q", "\u001b[5n", "\u001b[6n", "\u001b[?6n"],
      ...["\u001b[21t", "\u001b[20t", "\u001b[18t", "\u001b[14t", "\u001b[?u", "\u001b[?2026$p", "\u0005"],
      ...[`\u001b]0;${secret}\r\u0007`, `\u001b]2;${secret}\r\u0007`, "\u001b]52;c;?\u0007"],
      ...[`\u001bP$q${secret}\r\u001b\\`, `\u001bP+q${secret}\u001b\\`, `\u001b]4;1;?;${secret}\u0007`],
      ...[`\u001b]10;?\u0007`, `\u001b]1337;ReportVariable=${secret}\u0007`, `\u001bPq#0;2;0;0;0~~\u001b\\`],
      `\u001b]1337;File=inline=1:${secret}\u0007`,
    ];
    const { page, typed, faults } = await open({
      attached: async ({ stream }) => {
        await stream.send(ATTACHED);
        await stream.write(encoder.encode(`${questions.join("")}asked`));
      },
    });
    await page.evaluate('navigator.clipboard.writeText("mine")');
    await opensOne(page);
    await expectOnScreen(page, "asked");
    await page.locator(".xterm").click();
    await page.keyboard.type("!");
    await expect.poll(() => typed.join("")).toMatch(/!$/);
    expect(typed.join("")).not.toMatch(/sudo|evil|\r|\n|mine/);
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("mine");
    expect(faults).toEqual([]);
  });

  test("titles of a megabyte, and thousands of them, are one short name", async () => {
    const { page, opened } = await open({
      attached: async ({ stream }) => {
        await stream.send(ATTACHED);
        await stream.write(encoder.encode(`\u001b]0;${HOSTILE.repeat(20_000)}\u0007`));
        for (let at = 0; at < 2_000; at++) await stream.write(encoder.encode(`\u001b]2;t${at}\u0007`));
        await stream.write(encoder.encode(`\u001b]0;${"W".repeat(1_000_000)}\u0007done`));
      },
    });
    await opensOne(page);
    await expectOnScreen(page, "done");
    const tab = page.getByRole("tab");
    await expect.poll(() => tab.textContent()).toMatch(/^W+$/);
    expect((await tab.textContent())?.length).toBeLessThanOrEqual(200);
    await expectNoObjections(opened);
  });

  test("sizes that can't be, gaps, a sequence that goes backwards and a wrong snapshot leave a terminal that works", async () => {
    const { page, typed, faults } = await open({
      attached: async ({ stream }) => {
        await stream.send({ ...ATTACHED, cols: 1e6, rows: 1e6 });
        await stream.send({ ...ATTACHED, sequence: -1 });
        await stream.send({ ...ATTACHED, snapshot_bytes: 5 });
        await stream.write(encoder.encode("more than five bytes\r\n"));
        for (const cols of [1e6, 0, -3, 1.5, "80", null, Number.MAX_SAFE_INTEGER])
          await stream.send({ type: "resized", cols, rows: 24 });
        await stream.send({ type: "gap", from: 100, to: 5 });
        await stream.send({ type: "gap", from: 100, to: 4_196 });
        await stream.send({
          type: "viewers",
          viewers: [null, 5, { label: HOSTILE, write: "yes" }, { label: {} }],
        });
        await stream.send({ type: "viewers", viewers: "many" });
        await stream.send({ type: HOSTILE });
        await stream.send({ ...ATTACHED, sequence: 3, snapshot: false });
        await stream.write(encoder.encode("goes on"));
      },
    });
    await opensOne(page);
    await expectOnScreen(page, "goes on");
    await page.getByText("4.0 KiB of output are missing").waitFor();
    await page.locator(".xterm").click();
    await page.keyboard.type("x");
    await expect.poll(() => typed.join("")).toContain("x");
    expect(faults).toEqual([]);
  });

  test("a storm of sizes on a long text does not stop the page", async () => {
    let isOver = false;
    const { page, faults } = await open({
      attached: async ({ stream }) => {
        await stream.send(ATTACHED);
        await stream.write(encoder.encode(`${"word ".repeat(40)}\r\n`.repeat(5_000)));
        for (let at = 0; at < 4_000 && !isOver; at++)
          await stream.send({ type: "resized", cols: at % 2 === 0 ? 30 : 300, rows: 24 });
      },
    });
    await opensOne(page);
    await page.getByText(/^(30|300)×24$/).waitFor();
    const slowest = await page.evaluate<number>(`new Promise((resolve) => {
      let last = performance.now(), slowest = 0, count = 0;
      const timer = setInterval(() => {
        const now = performance.now();
        slowest = Math.max(slowest, now - last);
        last = now;
        if (++count === 30) { clearInterval(timer); resolve(slowest); }
      }, 50);
    })`);
    isOver = true;
    expect(slowest).toBeLessThan(2_000);
    expect(faults).toEqual([]);
  });

  test("a stream that is reset in the middle of a sequence comes back, ever more slowly", async () => {
    let times = 0;
    const { page, machine, faults } = await open({
      attached: async ({ stream }) => {
        times += 1;
        await stream.send(ATTACHED);
        await stream.write(encoder.encode("\u001b]0;half"));
        if (times < 4) stream.reset({ code: "UNAVAILABLE", message: HOSTILE, hop: "agent" });
        else await stream.write(encoder.encode("\u0007whole"));
      },
    });
    await opensOne(page);
    await expectOnScreen(page, "whole");
    const attached = machine.calls.filter(({ tool }) => tool === "TerminalAttach");
    expect(attached).toHaveLength(4);
    expect(faults).toEqual([]);
  });

  test("fifty terminals with hostile names are listed; sixteen are shown, and no more", async () => {
    const list = Array.from({ length: 50 }, (_, at) => ({
      ...{
        terminal: `other_${at}`,
        running: true,
        own: at % 2 === 0,
        name: at === 0 ? "n".repeat(100_000) : HOSTILE,
      },
      ...{
        shell: 5,
        cwd: HOSTILE,
        title: HOSTILE,
        foreground: at % 3 === 0 ? HOSTILE : 7,
        started: "x",
        viewers: -1,
      },
    }));
    const { page, opened } = await open({
      list,
      attached: async ({ stream }) => {
        await stream.send(ATTACHED);
        await stream.write(encoder.encode("here"));
      },
    });
    const items = page.getByRole("list", { name: "Open on this machine" }).getByRole("listitem");
    await expect.poll(() => items.count()).toBe(50);
    await expectNoObjections(opened);
    for (let at = 1; at <= 16; at++) {
      await page.getByRole("button", { name: "New terminal", exact: true }).click();
      await expect.poll(() => page.getByRole("tab").count()).toBe(at);
    }
    await page.getByRole("button", { name: "New terminal", exact: true }).click();
    await page.getByText("No more than 16 terminals are shown at once").waitFor();
    expect(await page.getByRole("tab").count()).toBe(16);
    await expectOnScreen(page, "here");
    await expectNoObjections(opened);
  });

  test("what is typed on a phone's line has no keys in it, and is kept where a terminal has ended", async () => {
    let end = () => Promise.resolve();
    const { page, typed, faults } = await open({
      screen: "phone",
      attached: async ({ stream }) => {
        await stream.send(ATTACHED);
        await stream.write(encoder.encode("ready"));
        end = () => stream.end({ exit_code: 0 });
      },
    });
    await opensOne(page);
    await expectOnScreen(page, "ready");
    const line = page.getByLabel("Type a command");
    await line.fill("a\u001b[201~b\u0003c");
    await page.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => typed.join("")).toContain("a[201~bc\r");
    await end();
    await page.getByText("Ended with exit code 0").waitFor();
    await line.fill("kept");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("The terminal takes no keys now: nothing was sent.").waitFor();
    expect(await line.inputValue()).toBe("kept");
    expect(faults).toEqual([]);
  });

  test("what was typed while there was no connection, and can't be sent any more, is not lost silently", async () => {
    let lose: (() => void) | undefined;
    const { page, typed, faults } = await open({
      attached: async ({ stream }) => {
        if (lose) return;
        await stream.send(ATTACHED);
        await stream.write(encoder.encode("ready"));
        lose = () => stream.reset({ code: "UNAVAILABLE", message: "Away", hop: "agent" });
      },
    });
    await opensOne(page);
    await expectOnScreen(page, "ready");
    await page.locator(".xterm").click();
    await page.keyboard.type("go");
    await expect.poll(() => typed.join("")).toContain("go");
    lose?.();
    await page.getByText("what you type waits").waitFor();
    await page.keyboard.type("waiting");
    await page.getByRole("link", { name: "Settings" }).first().click();
    await page.getByText("Some of what was typed was not sent.").waitFor();
    expect(typed.join("")).not.toContain("waiting");
    expect(faults).toEqual([]);
  });

  test("a flood leaves no more in the page's memory than its lines", async () => {
    const flood = encoder.encode(`${"0123456789".repeat(10)}\r\n`.repeat(1_000));
    const { page, faults } = await open({
      attached: async ({ stream }) => {
        await stream.send(ATTACHED);
        for (let at = 0; at < 100; at++) await stream.write(flood);
        await stream.write(encoder.encode("all of it"));
      },
    });
    await opensOne(page);
    const devtools = await page.context().newCDPSession(page);
    const before = await heapOf(devtools);
    await expect.poll(() => screenOf(page), { timeout: 120_000 }).toContain("all of it");
    expect((await heapOf(devtools)) - before).toBeLessThan(64 * 1024 * 1024);
    expect(faults).toEqual([]);
  });
});

/** What the person, or the emulator by itself, types into it. */
async function reading({ stream }: FakeCall, typed: string[]): Promise<void> {
  for await (const piece of stream.incoming())
    if (piece.kind === "data") typed.push(new TextDecoder().decode(piece.bytes));
}

/** What is left after a collection, in bytes. */
async function heapOf(devtools: CDPSession): Promise<number> {
  await devtools.send("HeapProfiler.collectGarbage");
  return (await devtools.send("Runtime.getHeapUsage")).usedSize;
}
