/** A session that ends while somebody uses a terminal: after signing in again, all is as it was. */
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectOnScreen, newTerminal, screenOf, startTerminalApp, typeLine } from "./terminal.ts";

describe("a terminal whose session ends", { ...NEEDS_CHROMIUM, timeout: 120_000 }, () => {
  const app = startTerminalApp();

  test("is at the same place after signing in again, with what it showed and what stood in the line", async () => {
    const { page, faults } = await app.open(`/d/${app.machine.id}/terminal`, { screen: "phone" });
    await newTerminal(page);
    await page.locator(".xterm").click();
    await typeLine(page, "here=kept; echo shown-$((1 + 1))");
    await expectOnScreen(page, "shown-2");
    const line = page.getByLabel("Type a command");
    await line.fill("echo $here-$((2 + 2))");
    const before = await screenOf(page);
    await app.relay.request(await app.relay.signIn(), "POST /v1/sessions/revoke-others", z.unknown(), {});
    await page.getByRole("heading", { level: 1, name: "Sign in to Matrx Relay" }).waitFor();
    expect(await page.getByRole("tab").filter({ visible: true }).count()).toBe(0);
    await page.getByLabel("Paste the link here").fill(await app.relay.signInLink());
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("tab").first().waitFor();
    expect(new URL(page.url()).pathname).toBe(`/d/${app.machine.id}/terminal`);
    await expect.poll(() => screenOf(page)).toBe(before);
    expect(await line.inputValue()).toBe("echo $here-$((2 + 2))");
    await page.getByRole("button", { name: "Send" }).click();
    await expectOnScreen(page, "kept-4");
    expect(faults).toEqual([]);
  });
});
