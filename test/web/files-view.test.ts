/** Files that are looked at in the app: each as what it is, only as much as is shown, and nothing of it runs. */
import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { pdfOf } from "../helpers/pdf.ts";
import { expectNoObjections, type Opened, startApp } from "./app.ts";

const SCRIPT = `<script>document.title='owned'</script><img src=x onerror="document.title='owned'">`;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40" onload="document.title='owned'"><script>document.title='owned'</script><rect width="60" height="40" fill="red"/></svg>`;

describe("a file that is looked at", NEEDS_CHROMIUM, () => {
  const app = startApp();
  let folder: string;
  let opened: Opened;
  let page: Page;
  /** Ranges of bytes that the page asked for. */
  let ranges: string[];

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "matrx-view-")));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
    expect(opened.faults).toEqual([]);
  });

  const write = (name: string, content: string | Uint8Array) => writeFileSync(join(folder, name), content);
  const file = () => page.getByRole("region", { name: "File" });
  const content = () => file().getByRole("group", { name: "Content of the file" });

  async function open(name: string, options: Parameters<typeof app.open>[1] = {}): Promise<void> {
    opened = await app.open(`/d/${app.machine.id}/files${folder}?file=${encodeURIComponent(name)}`, options);
    page = opened.page;
    ranges = [];
    page.on("request", (request) => {
      const { range } = request.headers();
      if (range !== undefined) ranges.push(range);
    });
    await file().getByRole("heading", { name }).waitFor();
  }

  test("text has lines and its language's colours, in both themes", async () => {
    write(
      "water.py",
      'import sys\n\n\ndef water(minutes: int) -> str:\n    """Waters."""\n    return f"{minutes} min"\n',
    );
    await open("water.py");
    await expect.poll(() => content().locator("[data-kind=keyword]").allTextContents()).toContain("def");
    await expect
      .poll(() => content().locator("[data-number='4']").textContent())
      .toBe("def water(minutes: int) -> str:\n");
    const colour = (selector: string) =>
      page.evaluate<string>(`getComputedStyle(document.querySelector("${selector}")).color`);
    expect(await colour("[data-kind=keyword]")).not.toBe(await colour("[data-number='1']"));
    await expectNoObjections(opened);
    await page.getByRole("button", { name: "Close the file" }).click();
    await file().waitFor({ state: "detached" });
  });

  test("long text comes in pieces, and a file of 2 GiB is not read but for its beginning", async () => {
    const long = openSync(join(folder, "long.log"), "w");
    writeSync(long, "the first line\n".repeat(20_000));
    ftruncateSync(long, 2 ** 31);
    closeSync(long);
    await open("long.log");
    await content().getByText("the first line").first().waitFor();
    await file().getByText("The first 64 KiB of 2.0 GiB.").waitFor();
    // What was asked for before somebody listened is not known.
    ranges = [];
    await page.reload();
    await file().getByText("The first 64 KiB of 2.0 GiB.").waitFor();
    await file().getByRole("button", { name: "Show more" }).click();
    await file().getByText("The first 320 KiB of 2.0 GiB.").waitFor();
    expect(ranges).toEqual(["bytes=0-65535", "bytes=65536-327679"]);
  });

  test("text that changes while it is read is never put together from two versions", async () => {
    write("log.txt", "old\n".repeat(50_000));
    await open("log.txt");
    await file().getByText("The first 64 KiB").waitFor();
    write("log.txt", "new\n".repeat(50_000));
    await file().getByRole("button", { name: "Show more" }).click();
    await file().getByText("The file has changed meanwhile.").waitFor();
    await file().getByRole("button", { name: "Read it anew" }).click();
    await expect.poll(() => content().locator("[data-number='1']").textContent()).toBe("new\n");
  });

  test("pages and drawings with scripts in them do nothing", async () => {
    write("page.html", SCRIPT);
    await open("page.html");
    await expect.poll(() => content().textContent()).toContain("<script>document.title='owned'</script>");
    write("drawing.svg", SVG);
    await open("drawing.svg");
    const image = file().getByRole("img", { name: "drawing.svg" });
    await file().getByText("60 × 40").waitFor();
    // An address of this origin could be opened in a tab of its own, where its script would run.
    expect(await image.getAttribute("src")).toMatch(/^data:image\/svg\+xml;base64,/);
    await file().getByRole("button", { name: "Full size" }).click();
    await file().getByRole("button", { name: "Fit" }).waitFor();
    write("photo.png", SCRIPT);
    await open("photo.png");
    await file().getByText("No preview of this kind of file.").waitFor();
    expect(await page.title()).not.toContain("owned");
  });

  test("Markdown is shown as it is meant, without the markup, the images and the scripts in it", async () => {
    write(
      "README.md",
      `# Garden\n\n${SCRIPT}\n\n![spy](https://spy.example/pixel.png)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[notes](./notes.txt) [bad](javascript:alert(1)) [out](https://example.org/)\n`,
    );
    write("notes.txt", "about pumps");
    const requested: string[] = [];
    await open("README.md");
    page.on("request", (request) => requested.push(request.url()));
    await content().getByRole("heading", { name: "Garden" }).waitFor();
    await expect.poll(() => content().getByRole("cell").allTextContents()).toEqual(["1", "2"]);
    expect(await content().locator("img, script").count()).toBe(0);
    await content().getByText("[image: spy]").waitFor();
    expect(await content().getByRole("link").allTextContents()).toEqual(["notes", "out"]);
    expect(await content().getByRole("link", { name: "out" }).getAttribute("rel")).toContain("noreferrer");
    await expectNoObjections(opened);
    await file().getByRole("button", { name: "As it is written" }).click();
    await expect.poll(() => content().textContent()).toContain("# Garden");
    await file().getByRole("button", { name: "As Markdown" }).click();
    await content().getByRole("link", { name: "notes" }).click();
    await expect.poll(() => content().textContent()).toBe("about pumps\n");
    expect(requested.filter((url) => !url.startsWith(app.relay.url))).toEqual([]);
    expect(await page.title()).not.toContain("owned");
  });

  test("a PDF is drawn, with its text for those who do not see it", async () => {
    write("plan.pdf", pdfOf([["Tomatoes in row one"], ["Beans in row two"]]));
    await open("plan.pdf");
    await file().getByRole("img", { name: "Page 1" }).waitFor();
    await file().getByText("2 pages").waitFor();
    await expect.poll(() => file().textContent()).toContain("Tomatoes in row one");
    await expectNoObjections(opened);
    write("broken.pdf", "%PDF-1.7 nothing");
    await open("broken.pdf");
    await file().getByText("This PDF can't be shown here.").waitFor();
  });

  test("sound is played part by part, fetched by the browser with this page's token", async () => {
    write("rain.wav", wav(30));
    await open("rain.wav", { workers: true });
    // The first visit has no worker yet.
    await page.waitForFunction("navigator.serviceWorker.ready.then(() => true)");
    await page.reload();
    await page.waitForFunction("navigator.serviceWorker.controller !== null");
    const player = file().locator("audio");
    await expect.poll(() => player.getAttribute("src")).toMatch(/^\/v1\/devices\/.*\?inline=true$/);
    await expect.poll(() => page.evaluate("document.querySelector('audio').duration")).toBeCloseTo(30, 1);
    await page.evaluate("document.querySelector('audio').currentTime = 25");
    await expect.poll(() => page.evaluate("document.querySelector('audio').seeking")).toBe(false);
    await expect
      .poll(() => page.evaluate("document.querySelector('audio').readyState"))
      .toBeGreaterThanOrEqual(2);
    await expectNoObjections(opened);
    // A link elsewhere opens nothing, also while it is played here.
    const source = await player.getAttribute("src");
    const other = await page.context().newPage();
    const answer = await other.goto(`${app.relay.url}${source}`);
    expect(answer?.status()).toBe(401);
  });

  test("on a phone it takes the place of its folder, and the way back leads there", async () => {
    write("notes.txt", "about pumps");
    opened = await app.open(`/d/${app.machine.id}/files${folder}`, { screen: "phone" });
    page = opened.page;
    await page.getByRole("grid").getByText("notes.txt").tap();
    await expect.poll(() => content().textContent()).toBe("about pumps\n");
    expect(await page.getByRole("grid").isVisible()).toBe(false);
    await expectNoObjections(opened);
    await page.goBack();
    await page.getByRole("grid").waitFor();
    await expectNoObjections(opened);
  });
});

/** So many seconds of noise. */
function wav(seconds: number): Uint8Array {
  const rate = 22_050;
  const bytes = Buffer.alloc(44 + rate * 2 * seconds);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt32LE(rate * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(bytes.length - 44, 40);
  for (let at = 44; at < bytes.length; at += 2) bytes.writeInt16LE((at * 7919) % 20_000, at);
  return bytes;
}
