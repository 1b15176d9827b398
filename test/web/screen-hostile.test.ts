/** The screen and the clipboard of a machine that answers what it likes. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectNoObjections, startApp } from "./app.ts";

const HOSTILE = `<img src=x onerror="document.title='owned'">\u202egpj.\u001b[31m`;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg"><script>document.title='owned'</script></svg>`;
const MOST_ELEMENTS = 8_000;

describe("the screen of a hostile machine", NEEDS_CHROMIUM, () => {
  const app = startApp();
  const path = () => `/d/${app.machine.id}/screen`;
  const elements = (page: Page) => page.evaluate<number>("document.querySelectorAll('*').length");

  /** Answers each call of the tool with the next of these, and the last of them from then on. Returns how many came. */
  async function answered(page: Page, tool: string, ...answers: object[]): Promise<() => number> {
    let count = 0;
    await page.route(`**/tools/${tool}`, (route) => {
      const answer = answers[Math.min(count, answers.length - 1)];
      count += 1;
      const end = { type: "success", output: "", image: null, call: "x", ...answer };
      const body = `event: result\ndata: ${JSON.stringify(end)}\n\n`;
      return route.fulfill({ contentType: "text/event-stream", headers: { "Matrx-Call": "x" }, body });
    });
    return () => count;
  }

  const picture = (media_type: string, content: string | Buffer) => ({
    image: { media_type, base64_data: Buffer.from(content).toString("base64") },
  });

  test("an answer without a picture is said to be one, and no further ones are asked for", async () => {
    const opened = await app.open(path());
    const { page } = opened;
    const count = await answered(page, "Screenshot", {});
    await page.getByLabel("Again").selectOption("Every 2 seconds");
    await page.getByRole("alert").getByText("The machine's answer has no picture.").waitFor();
    await expect.poll(() => page.getByLabel("Again").inputValue()).toBe("0");
    expect(count()).toBe(1);
    await expectNoObjections(opened);
  });

  test("what is no picture is text; one that comes next is shown", async () => {
    const opened = await app.open(path());
    const { page } = opened;
    const png =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const metadata = {
      monitors: [
        { index: 0, name: { a: 1 }, width: HOSTILE, height: {} },
        { index: 1, name: HOSTILE },
        ...Array(500).fill({ index: 2 }),
      ],
    };
    await answered(
      page,
      "Screenshot",
      { ...picture("image/png", SVG), metadata },
      picture("image/svg+xml", SVG),
      picture(`text/html,${HOSTILE}`, SVG),
      { image: { media_type: "image/png", base64_data: "%%%" } },
      picture("image/jpeg", Buffer.alloc(20_000_000, "x")),
      { image: { media_type: "image/png", base64_data: png } },
    );
    const take = page.getByRole("button", { name: "Take a picture" });
    const broken = page.getByText("This isn't a picture that can be shown here.");
    await take.click();
    await broken.waitFor();
    expect(await page.getByLabel("Monitor").locator("option").count()).toBeLessThan(40);
    await expectNoObjections(opened);
    await take.click();
    await page.getByText("A picture of type image/svg+xml, which can't be shown here.").waitFor();
    await take.click();
    await page.getByText(/^A picture of type text\/html/).waitFor();
    await take.click();
    await broken.waitFor();
    await take.click();
    await expect.poll(() => take.isEnabled()).toBe(true);
    await broken.waitFor();
    await take.click();
    await page.getByText("1 × 1", { exact: true }).waitFor();
    expect(await page.title()).not.toContain("owned");
    expect(opened.faults).toEqual([]);
  });

  test("a clipboard of 10 MB, or with characters that can't be seen, is text; what is none is said", async () => {
    const opened = await app.open(path());
    const { page } = opened;
    await answered(
      page,
      "ClipboardRead",
      { metadata: { text: `${HOSTILE}\u0007\u0000\u009b1m\n`.repeat(300_000), cut: "no" } },
      { metadata: { text: 5 } },
      { metadata: null },
    );
    const panel = page.getByRole("region", { name: "Clipboard" });
    await panel.getByRole("button", { name: "Read it" }).click();
    await panel.getByText(/^Read at /).waitFor();
    expect(await elements(page)).toBeLessThan(MOST_ELEMENTS);
    expect((await panel.textContent())?.length).toBeLessThan(400_000);
    expect(await page.title()).not.toContain("owned");
    for (let times = 0; times < 2; times++) {
      await panel.getByRole("button", { name: "Read it" }).click();
      await panel.getByRole("alert").getByText("has no text, and can't be read here").waitFor();
    }
    expect(opened.faults).toEqual([]);
  });

  test("pictures that somebody has to allow are asked for one at a time", async () => {
    const { page, faults } = await app.open(path());
    let count = 0;
    await page.route("**/tools/Screenshot", (route) => {
      count += 1;
      const asked = { type: "approval", call: "x", approval: "y", expires: new Date().toISOString() };
      const end = { type: "success", output: "", call: "x", ...picture("image/png", "") };
      const body = [
        `event: approval\ndata: ${JSON.stringify({ ...asked, state: "pending" })}\n\n`,
        `event: approval\ndata: ${JSON.stringify({ ...asked, state: "allowed" })}\n\n`,
        ...(count === 1 ? [] : [`event: result\ndata: ${JSON.stringify(end)}\n\n`]),
      ].join("");
      return route.fulfill({ contentType: "text/event-stream", headers: { "Matrx-Call": "x" }, body });
    });
    await page.route("**/calls/x", () => undefined);
    await page.getByLabel("Again").selectOption("Every 2 seconds");
    await expect.poll(() => page.getByLabel("Again").inputValue()).toBe("0");
    expect(await page.getByText("The picture waits for approval").count(), "it was allowed").toBe(0);
    expect(count).toBe(1);
    expect(faults).toEqual([]);
  });
});
