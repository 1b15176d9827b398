/** A session that is revoked while somebody uses its terminal: the machine ends that; the page and what was typed stay. */
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectOnScreen, expectPrompt, newTerminal, startTerminalApp, typeLine } from "./terminal.ts";

describe("a terminal whose session ends", { ...NEEDS_CHROMIUM, timeout: 120_000 }, () => {
  const app = startTerminalApp();

  test("is told to be gone after signing in again, at the same place; what stood in the line goes into the next", async () => {
    const { page, faults } = await app.openAlone(`/d/${app.machine.id}/terminal`, { screen: "phone" });
    await newTerminal(page);
    await page.locator(".xterm").click();
    await typeLine(page, "echo shown-$((1 + 1))");
    await expectOnScreen(page, "shown-2");
    const line = page.getByLabel("Type a command");
    await line.fill("echo new-$((2 + 2))");
    await app.relay.request(await app.relay.signIn(), "POST /v1/sessions/revoke-others", z.unknown(), {});
    await page.getByRole("heading", { level: 1, name: "Sign in to Matrx Relay" }).waitFor();
    expect(await page.getByRole("tab").filter({ visible: true }).count()).toBe(0);
    await page.getByLabel("Paste the link here").fill(await app.relay.signInLink());
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("tab").first().waitFor();
    expect(new URL(page.url()).pathname).toBe(`/d/${app.machine.id}/terminal`);
    await page.getByText("This terminal is gone").waitFor();
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("The terminal takes no keys now: nothing was sent.").waitFor();
    expect(await line.inputValue()).toBe("echo new-$((2 + 2))");
    await page.getByRole("button", { name: "Start again" }).click();
    await expectPrompt(page);
    await page.getByRole("button", { name: "Send" }).click();
    await expectOnScreen(page, "new-4");
    expect(faults).toEqual([]);
  });
});
