/** The screen of a machine as pictures, taken when asked and at a pace, and its clipboard: of a real X server. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { policySetSchema } from "../../shared/policy.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { NEEDS_CLIPBOARD, NEEDS_XVFB, type Screen, startScreen } from "../helpers/xvfb.ts";
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
      await page.getByRole("link", { name: "Screen", exact: true }).first().click();
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

    test("its clipboard is read when somebody asks, and not before", NEEDS_CLIPBOARD, async () => {
      await screen.copy("héllo <b>\nsecond line\n");
      const { page, faults } = await app.open(path());
      const panel = page.getByRole("region", { name: "Clipboard" });
      const shown = panel.getByRole("group", { name: "Text on the clipboard" });
      await panel.getByRole("button", { name: "Read it" }).waitFor();
      const owner = await app.relay.signIn();
      const read = async () => {
        const { calls } = await app.relay.request(
          owner,
          `GET /v1/devices/${app.machine.id}/calls`,
          z.object({ calls: z.array(z.object({ tool: z.string() })) }),
        );
        return calls.filter(({ tool }) => tool === "ClipboardRead");
      };
      expect(await read()).toEqual([]);
      expect(await shown.count()).toBe(0);
      await panel.getByRole("button", { name: "Read it" }).click();
      await panel.getByText(/^Read at /).waitFor();
      expect(await shown.textContent()).toBe("héllo <b>\nsecond line\n");
      expect(await read()).toHaveLength(1);
      app.renewAfterTest();
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await panel.getByRole("button", { name: "Copy the text" }).click();
      await panel.getByText("Copied", { exact: true }).waitFor();
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe("héllo <b>\nsecond line\n");
      // What is told of the call does not repeat it.
      await page.getByRole("link", { name: "Activity" }).first().click();
      await page.getByText("The clipboard holds 23 bytes of text").first().waitFor();
      expect(await page.getByText("second line").count()).toBe(0);
      expect(faults).toEqual([]);
    });

    test(
      "a text is put there; what is typed waits through a reload and a refusal",
      NEEDS_CLIPBOARD,
      async () => {
        const { page } = await app.open(path());
        const panel = page.getByRole("region", { name: "Clipboard" });
        const field = panel.getByLabel("Text to paste at the machine");
        const put = panel.getByRole("button", { name: "Put it there" });
        expect(await put.isDisabled()).toBe(true);
        await field.fill("Grüße\n\tvon hier");
        await page.reload();
        expect(await field.inputValue()).toBe("Grüße\n\tvon hier");

        const owner = await app.relay.signIn();
        const policy = (body: object) =>
          app.relay.request(owner, `PUT /v1/devices/${app.machine.id}/policy`, policySetSchema, body);
        await policy({ denied_tools: ["ClipboardWrite"] });
        await put.click();
        await panel
          .getByRole("alert")
          .getByText(/ClipboardWrite/)
          .waitFor();
        expect(await field.inputValue()).toBe("Grüße\n\tvon hier");
        await policy({});
        await put.click();
        await panel.getByText(/^Put there at /).waitFor();
        expect(await screen.pasted()).toBe("Grüße\n\tvon hier");
        expect(await field.inputValue()).toBe("");
        expect(await panel.getByRole("alert").count()).toBe(0);

        await policy({ ask: [{ tools: ["ClipboardWrite"] }] });
        await field.fill("token=abcdefgh");
        await put.click();
        await panel.getByText(/^Putting it there waits for approval/).waitFor();
        await panel.getByRole("link", { name: "Decide in Activity" }).waitFor();
        await page.getByRole("link", { name: "Activity" }).first().click();
        await page.getByText('Put 14 bytes of text on the clipboard: "token=[redacted]"').first().waitFor();
        await policy({});
      },
    );

    test("there is nothing to object to, on a desktop and on a phone", NEEDS_CLIPBOARD, async () => {
      for (const size of ["desktop", "phone"] as const) {
        const opened = await app.open(path(), { screen: size });
        await opened.page.getByRole("button", { name: "Take a picture" }).click();
        await opened.page.getByText("640 × 400", { exact: true }).waitFor();
        await opened.page.getByRole("button", { name: "Read it" }).click();
        await opened.page.getByText(/^(?:Read|No text was there) at /).waitFor();
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
