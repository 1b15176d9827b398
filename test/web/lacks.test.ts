/** Pages for tools that a machine does not offer, as an older agent or a rule leaves them out: calm words in place of what cannot work. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectFitting, expectNoObjections, startApp } from "./app.ts";
import { openAsGuest } from "./guest.ts";
import { setPolicy } from "./policy.ts";

describe("a machine that lacks tools", NEEDS_CHROMIUM, () => {
  const app = startApp();
  const path = (of: string) => `/d/${app.machine.id}/${of}`;
  const lack = (page: Page, tool: string) =>
    page.getByText(`The machine does not offer “${tool}” to you`, { exact: false });

  const denied = (...tools: string[]) => setPolicy(app, { denied_tools: tools });

  test.each([
    ["terminal", "TerminalAttach"],
    ["monitor", "SystemMetrics"],
    ["monitor?view=processes", "ListProcesses"],
    ["monitor?view=connections", "NetworkConnections"],
    ["screen", "Screenshot"],
  ])("the page /%s says so of %s, and makes no call once that is known", async (of, tool) => {
    await denied(tool);
    const opened = await app.open("/settings");
    const { page } = opened;
    const asked: string[] = [];
    page.on("websocket", (socket) => {
      if (socket.url().includes("/devices/"))
        socket.on("framesent", ({ payload }) => asked.push(String(payload)));
    });
    await page.goto(`${app.relay.url}${path(of)}`);
    await lack(page, tool).waitFor();
    asked.length = 0;
    await page.reload();
    await lack(page, tool).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(asked.filter((frame) => frame.includes(tool))).toEqual([]);
    await expectNoObjections(opened);
  });

  test("without StopProcess, processes are shown, and none can be ended", async () => {
    await denied("StopProcess");
    const opened = await app.open(path("monitor?view=processes"));
    const { page } = opened;
    await page.getByText("None can be ended from here.").waitFor();
    await page.getByRole("row").nth(1).waitFor();
    expect(await page.getByRole("button", { name: /^End / }).count()).toBe(0);
    await expectNoObjections(opened);
  });

  test("without the clipboard's tools, its buttons are off, and say why", async () => {
    await denied("ClipboardRead", "ClipboardWrite");
    const { page, faults } = await app.open(path("screen"));
    const panel = page.getByRole("region", { name: "Clipboard" });
    await lack(page, "ClipboardRead").waitFor();
    await lack(page, "ClipboardWrite").waitFor();
    await panel.getByLabel("Text to paste at the machine").fill("typed");
    expect(await panel.getByRole("button", { name: "Read it" }).isDisabled()).toBe(true);
    expect(await panel.getByRole("button", { name: "Put it there" }).isDisabled()).toBe(true);
    expect(faults).toEqual([]);
  });

  test("a guest who may only read is told which pages are not shared, and sees the rest", async () => {
    const opened = await openAsGuest(app, { paths: null, effects: ["read"] });
    const { page } = opened;
    const share = "it is not part of what owner shares with you";
    const go = (of: string) => page.goto(`${app.relay.url}${path(of)}`);
    for (const [of, tool] of [
      ["terminal", "TerminalAttach"],
      ["screen", "Screenshot"],
    ] as const) {
      await go(of);
      await lack(page, tool).and(page.getByText(share)).waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
      await expectFitting(opened);
    }
    expect(await page.getByRole("button", { name: "Take a picture" }).isDisabled()).toBe(true);
    expect(await page.getByRole("button", { name: "Read it" }).isDisabled()).toBe(true);
    await lack(page, "ClipboardWrite").waitFor();
    await go("monitor");
    await page.getByText("Live", { exact: true }).waitFor();
    await go("monitor?view=processes");
    await page.getByRole("row").nth(1).waitFor();
    await page.getByText("None can be ended from here.").waitFor();
    expect(await page.getByRole("button", { name: /^End / }).count()).toBe(0);
    await expectFitting(opened);
  });
});
