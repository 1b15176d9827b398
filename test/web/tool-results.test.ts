/** What tools answer in the app: each result in the view that shows it best, and nothing of it as markup. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { makePng } from "../helpers/png.ts";
import { expectNoObjections, startApp } from "./app.ts";

const MARKUP = `<img src=x onerror="document.title='owned'"><b>x</b>`;
const BIDI = "\u202Egnp.exe";

describe("results of tools", NEEDS_CHROMIUM, () => {
  const app = startApp();
  const tool = (name = "") => `/d/${app.machine.id}/tools${name && `/${name}`}`;
  const group = (page: Page, name: string) => page.getByRole("group", { name, exact: true });

  /** Makes a call that is answered as the test says. */
  async function answered(page: Page, answer: object, ...events: { type: string }[]): Promise<void> {
    const end = { type: "success", output: "", image: null, call: "x", ...answer };
    const told = [...events.map((event) => [event.type, event]), ["result", end]] as const;
    const body = told.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join("");
    await page.route("**/tools/SystemInfo", (route) =>
      route.fulfill({ contentType: "text/event-stream", headers: { "Matrx-Call": "x" }, body }),
    );
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page
      .getByText(/Answered in/)
      .first()
      .waitFor();
  }

  test.each(["desktop", "phone"] as const)(
    "rows are a table that sorts, and JSON is a tree: %s",
    async (screen) => {
      const opened = await app.open(tool("SystemInfo"), { screen });
      const { page } = opened;
      const rows = Array.from({ length: 450 }, (_, at) => ({
        name: `row ${at}`,
        size: (at * 7) % 450,
        note: MARKUP,
      }));
      await answered(page, { output: JSON.stringify({ rows, path: BIDI }) });
      const cells = (column: number) => page.locator(`tbody tr td:nth-child(${column})`).allTextContents();
      await expect.poll(() => page.locator("tbody tr").count()).toBe(200);
      await page.getByRole("button", { name: "size" }).click();
      expect((await cells(2)).slice(0, 3)).toEqual(["0", "1", "2"]);
      await page.getByRole("button", { name: "size" }).click();
      expect((await cells(2))[0]).toBe("449");
      await page.getByRole("button", { name: "Show 200 more rows of 250" }).click();
      await expect.poll(() => page.locator("tbody tr").count()).toBe(400);
      await expectNoObjections(opened);
      await page.getByText("JSON", { exact: true }).first().click();
      await group(page, "JSON").getByRole("button", { name: "rows: 450 items" }).click();
      await group(page, "JSON").getByRole("button", { name: "Show 100 more of 350" }).waitFor();
      await expectNoObjections(opened);
      await expect.poll(() => page.locator("main img, main b").count()).toBe(0);
    },
  );

  test("a directory is a table, and its text is a click away", async () => {
    const { page } = await app.open(tool("ListDirectory"));
    await page.getByLabel("Path").fill("/");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await group(page, "Table").getByText("etc", { exact: true }).waitFor();
    await page.getByText("Text", { exact: true }).click();
    await group(page, "Output").getByText("etc/").waitFor();
  });

  test("a picture is shown, enlarged and saved", async () => {
    const opened = await app.open(tool("SystemInfo"));
    const { page } = opened;
    const png = makePng(2_000, 20, () => [200, 30, 30]);
    await answered(page, {
      output: "2000x20",
      image: { media_type: "image/png", base64_data: png.toString("base64") },
    });
    await page.getByText("2000 × 20").waitFor();
    const width = () => page.getByAltText("What the tool returned").evaluate((image) => image.clientWidth);
    await expect.poll(() => width()).toBeLessThan(1_200);
    await page.getByRole("button", { name: "Show in full size" }).click();
    await expect.poll(() => width()).toBe(2_000);
    await expectNoObjections(opened);
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save the picture" }).click();
    expect((await saved).suggestedFilename()).toMatch(/^SystemInfo-[\d-]+\.png$/);
  });

  test("progress, parts and links are shown, as text and never as markup", async () => {
    const opened = await app.open(tool("SystemInfo"));
    const { page } = opened;
    await answered(page, {
      output: `heard ${MARKUP}`,
      metadata: { who: MARKUP },
      content: [
        { type: "text", text: "heard" },
        { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
        { type: "audio", data: "UklGRg==", mimeType: "text/html" },
        { type: "image", data: "AAAA", mimeType: "image/svg+xml" },
        { type: "image", data: "AAAA", mimeType: "image/svg+xml" },
        { type: "resource_link", uri: "javascript:alert(1)", name: "<img src=x>" },
        { type: "resource", resource: { uri: "file:///a", text: "<script>" } },
        { type: "hologram" },
      ],
    });
    await page.getByText("Link: <img src=x> (javascript:alert(1))").waitFor();
    await page.getByText("Audio of type text/html, which can't be played here.").waitFor();
    await page.getByText("A picture of type image/svg+xml, which can't be shown here.").waitFor();
    await page.getByText("A part of type hologram, which can't be shown here.").waitFor();
    await page.getByText("Resource: file:///a").click();
    await group(page, "Resource").getByText("<script>").waitFor();
    await page.getByText("Details for programs").click();
    expect(await page.locator("audio").getAttribute("src")).toBe("data:audio/wav;base64,UklGRg==");
    await expect.poll(() => page.locator("main img, main b, a[href^='javascript']").count()).toBe(0);
    await expect.poll(() => page.title()).toBe("SystemInfo · Matrx Relay");
    await expectNoObjections(opened);
  });

  test("what a machine wrote in other shapes than the protocol has is told as that, and the rest is shown", async () => {
    const { page, faults } = await app.open(tool("SystemInfo"));
    await answered(page, {
      output: "heard all the same",
      image: { media_type: 5 },
      metadata: "none",
      hint: { no: "text" },
      content: [
        ...[null, 5, [], { type: "image" }, { type: "image", data: 5, mimeType: "image/png" }],
        ...[{ type: "resource", resource: null }, { type: "resource_link" }, { type: "audio", mimeType: 5 }],
        { type: "resource_link", uri: "https://example.com/", name: "a link" },
      ],
    });
    await group(page, "Output").getByText("heard all the same").waitFor();
    await page.getByText("Link: a link (https://example.com/)").waitFor();
    await expect
      .poll(() => page.getByText("A part of type unreadable, which can't be shown here.").count())
      .toBe(8);
    expect(faults).toEqual([]);
  });

  test("what a tool has a view for is seen above its text, if it is of the kind that the view knows", async () => {
    const opened = await app.open(tool("SystemInfo"));
    const { page } = opened;
    const memory = { available_bytes: 3 * 2 ** 30, total_bytes: 16 * 2 ** 30 };
    const metadata = { memory, disk: { free_bytes: "1", total_bytes: MARKUP }, uptime_seconds: 7_500 };
    await answered(page, { output: "what it said", metadata });
    await page.getByText("3.0 GiB free of 16 GiB").waitFor();
    await page.getByText("2 h 5 min", { exact: true }).waitFor();
    await group(page, "Output").getByText("what it said").waitFor();
    await expectNoObjections(opened);
    await page.unroute("**/tools/SystemInfo");
    await answered(page, { output: "something else", metadata: { memory: [5], uptime_seconds: MARKUP } });
    await group(page, "Output").getByText("something else").waitFor();
    await expect.poll(() => page.getByText(/GiB free|Up for/).count()).toBe(0);
    expect(opened.faults).toEqual([]);
  });

  test("of 30 MB the beginning is drawn at once, and all of it is saved", async () => {
    const { page } = await app.open(tool("SystemInfo"));
    const output = "0123456789 abcdefghijklmnopqrstuvwxyz\n".repeat(800_000);
    const began = performance.now();
    await answered(page, { output });
    await page.getByText(/^The first [\d,]+ of 30,400,000 characters are shown\.$/).waitFor();
    expect(performance.now() - began).toBeLessThan(20_000);
    expect((await group(page, "Output").textContent())?.length).toBeLessThanOrEqual(100_000);
    await page.getByRole("button", { name: "Show a million characters more" }).click();
    await expect
      .poll(async () => (await group(page, "Output").textContent())?.length)
      .toBeGreaterThan(1_000_000);
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save as a file" }).click();
    expect((await saved).suggestedFilename()).toMatch(/\.txt$/);
  });

  test("a call that waits for a person says so, and where to decide", async () => {
    const { page } = await app.open(tool("SystemInfo"));
    const asked = {
      ...{ type: "approval", call: "x", approval: "a", state: "pending", summary: "s", edited: false },
      expires: new Date(Date.now() + 600_000).toISOString(),
    };
    await page.addInitScript(`{
      const fetchNow = window.fetch;
      window.fetch = (url, init) => String(url).endsWith("/tools/SystemInfo")
        ? Promise.resolve(new Response(new ReadableStream({ start(stream) {
            stream.enqueue(new TextEncoder().encode(${JSON.stringify(`event: approval\ndata: ${JSON.stringify(asked)}\n\n`)}));
          } }), { headers: { "Matrx-Call": "x" } }))
        : fetchNow(url, init);
    }`);
    await page.reload();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText(/^SystemInfo waits for approval until \d/).waitFor();
    await page.getByRole("link", { name: "Decide in Activity" }).click();
    await page.waitForURL(/\/activity\?show=needs-you$/);
  });

  test.each(["desktop", "phone"] as const)(
    "a hostile manifest is text, and breaks no layout: %s",
    async (screen) => {
      const opened = await app.open("/fleet", { screen });
      const { page } = opened;
      const properties = Object.fromEntries(
        Array.from({ length: 200 }, (_, at) => [
          `${"x".repeat(at === 0 ? 120 : 1)}${at}${BIDI}`,
          at % 2 === 0
            ? { type: "string", description: MARKUP.repeat(80) }
            : { enum: [MARKUP.repeat(50), { a: BIDI }] },
        ]),
      );
      let deep: object = { type: "string" };
      for (let at = 0; at < 2_000; at++) deep = { type: "array", items: deep };
      const tools = [
        {
          name: `${"W".repeat(100)}${BIDI}`,
          title: MARKUP.slice(0, 120),
          description: `${MARKUP} ${"w".repeat(8_000)}`,
          effect: "execute",
          unavailable: "u".repeat(1_000),
          input_schema: {
            type: "object",
            properties: { ...properties, deep, __proto__x: null },
            required: ["x1"],
          },
        },
        { name: "odd", description: "", effect: "beam", input_schema: { properties: 3, required: "no" } },
      ];
      await page.route("**/v1/devices/*/tools", (route) =>
        route.fulfill({ json: { device: app.machine.id, hash: "h", tools } }),
      );
      await page.goto(`${app.relay.url}${tool()}`);
      await page.getByRole("link", { name: /^WWW/ }).click();
      await page.getByText(/more options/).click();
      await page.getByLabel("Deep").waitFor();
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await expectNoObjections(opened);
      await expect.poll(() => page.locator("main img, main b").count()).toBe(0);
      await expect.poll(() => page.textContent("main")).not.toContain("\u202Egnp.exe_");
      await page.goto(`${app.relay.url}${tool("odd")}`);
      await page.getByText("It needs no input.").waitFor();
      await expectNoObjections(opened);
    },
  );
});
