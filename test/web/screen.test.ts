/** The screen of a machine as pictures: a real X server's, taken when asked and at a pace. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { policySetSchema } from "../../shared/policy.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { NEEDS_XVFB, type Screen, startScreen } from "../helpers/xvfb.ts";
import { expectNoObjections, startApp } from "./app.ts";

describe("the screen", NEEDS_CHROMIUM, () => {
  describe("of a machine that has one", NEEDS_XVFB, () => {
    let screen: Screen;
    beforeAll(async () => {
      screen = await startScreen();
      await screen.paint("-mod", "16", "16", "-fg", "#ffcc00", "-bg", "#1122cc");
      vi.stubEnv("DISPLAY", screen.display);
    });
    const app = startApp();
    afterAll(async () => {
      vi.unstubAllEnvs();
      await screen?.[Symbol.asyncDispose]();
    });
    const path = () => `/d/${app.machine.id}/screen`;

    test("a picture is taken, enlarged and saved; then one comes after the other, until the page is left alone", async () => {
      const { page, faults } = await app.open("/fleet");
      await page.getByRole("link", { name: `Open ${app.machine.name}` }).click();
      await page.getByRole("link", { name: "Screen", exact: true }).click();
      await page.getByText("No picture was taken yet.").waitFor();
      await page.getByRole("button", { name: "Take a picture" }).click();
      await page.getByText("640 × 400", { exact: true }).waitFor();
      await page.getByText(/^Taken at /).waitFor();
      await page.getByRole("button", { name: "Show in full size" }).click();
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save the picture" }).click();
      expect((await download).suggestedFilename()).toMatch(/^screen-\d+\.jpg$/);

      const picture = page.getByRole("img", { name: "What the tool returned" });
      const first = await picture.getAttribute("src");
      await screen.paint("-solid", "#1122cc");
      await page.getByLabel("Again").selectOption("Every 2 seconds");
      await expect.poll(() => picture.getAttribute("src"), { timeout: 10_000 }).not.toBe(first);
      await page.getByText(/^All of it has one colour/).waitFor();
      // It stays enlarged.
      await page.getByRole("button", { name: "Fit to the page" }).waitFor();
      expect(faults).toEqual([]);
    });

    test("what the machine refuses is said once, and not asked for again", async () => {
      const { page } = await app.open(path());
      const owner = await app.relay.signIn();
      const policy = (denied: string[]) =>
        app.relay.request(owner, `PUT /v1/devices/${app.machine.id}/policy`, policySetSchema, {
          denied_tools: denied,
        });
      await policy(["Screenshot"]);
      await page.getByLabel("Again").selectOption("Every 2 seconds");
      await page.getByRole("alert").waitFor();
      await expect.poll(() => page.getByLabel("Again").inputValue()).toBe("0");
      await policy([]);
      await page.getByRole("button", { name: "Take a picture" }).click();
      await page.getByText("640 × 400", { exact: true }).waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
    });

    test("there is nothing to object to, on a desktop and on a phone", async () => {
      for (const size of ["desktop", "phone"] as const) {
        const opened = await app.open(path(), { screen: size });
        await opened.page.getByRole("button", { name: "Take a picture" }).click();
        await opened.page.getByText("640 × 400", { exact: true }).waitFor();
        await expectNoObjections(opened);
      }
    });
  });

  describe("of a machine without one", () => {
    beforeAll(() => {
      vi.stubEnv("DISPLAY", undefined);
      vi.stubEnv("WAYLAND_DISPLAY", undefined);
    });
    const app = startApp();
    afterAll(() => void vi.unstubAllEnvs());

    test("says what is missing", async () => {
      const { page } = await app.open(`/d/${app.machine.id}/screen`);
      await page.getByRole("button", { name: "Take a picture" }).click();
      await page
        .getByRole("alert")
        .getByText(/no display/)
        .waitFor();
    });
  });
});
