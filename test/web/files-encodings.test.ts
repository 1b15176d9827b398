/** Texts that are not in UTF-8 are shown as what they are, and never written back as something else; films are played by parts. */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { encode } from "../../agent/text/encodings.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectNoObjections, type Opened, startApp } from "./app.ts";

const TEXT = "Café – grün\nπ ≈ 3\n";

describe("a file's bytes", NEEDS_CHROMIUM, () => {
  const app = startApp();
  let folder: string;
  let opened: Opened;
  let page: Page;

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "matrx-bytes-")));
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
  }
  const go = (search: string) =>
    page.goto(`${app.relay.url}/d/${app.machine.id}/files${folder}?file=${search}`);

  test("in UTF-16 and Latin-1 are read right and named, and the editor refuses them", async () => {
    const little = Buffer.from(`\ufeff${TEXT}`, "utf16le");
    write("little.txt", little);
    write("big.txt", Buffer.from(little).swap16());
    write("latin.txt", Buffer.from("Café grün\n", "latin1"));
    write("bom.txt", `\ufeff${TEXT}`);
    await open("little.txt");
    await expect.poll(() => content().textContent()).toBe(`${TEXT}\n`);
    await file().getByText("Read as UTF-16LE: it is no UTF-8.").waitFor();
    await expectNoObjections(opened);
    await go("big.txt");
    await expect.poll(() => content().textContent()).toBe(`${TEXT}\n`);
    await go("latin.txt");
    await expect.poll(() => content().textContent()).toBe("Café grün\n\n");
    await file().getByText("Read as WINDOWS-1252: it is no UTF-8.").waitFor();
    const words = "Это файл настроек программы: здесь описаны ее параметры.";
    write("cyrillic.txt", encode(words, "windows-1251") ?? "");
    await go("cyrillic.txt");
    await expect.poll(() => content().textContent()).toBe(`${words}\n`);
    await file().getByText("Read as WINDOWS-1251: it is no UTF-8.").waitFor();
    for (const name of ["little.txt", "big.txt", "latin.txt", "cyrillic.txt"]) {
      await go(`${name}&edit=true`);
      await file().getByText("This is no text in UTF-8").waitFor();
      expect(await page.getByLabel(`Content of ${name}`).count()).toBe(0);
    }
    expect(readFileSync(join(folder, "little.txt")).equals(little)).toBe(true);
  });

  test("with a byte order mark keep it when they are edited", async () => {
    write("bom.txt", `\ufeff${TEXT}`);
    await open("bom.txt");
    await file().getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByLabel("Content of bom.txt").focus();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("more");
    await page.keyboard.press("Control+s");
    await page.getByText("bom.txt was saved.").waitFor();
    expect(readFileSync(join(folder, "bom.txt"), "utf8")).toBe(`\ufeff${TEXT}more`);
  });

  test("that end with half a character show that something is there", async () => {
    write("cut.txt", Buffer.concat([Buffer.from("\ufeffwhole", "utf16le"), Buffer.from([0x61])]));
    await open("cut.txt");
    await expect.poll(() => content().textContent()).toBe("whole\ufffd\n");
  });

  test("of a film are fetched by the browser in parts, with this page's token", async () => {
    opened = await app.open("/settings/about", { workers: true });
    page = opened.page;
    await page.waitForFunction("navigator.serviceWorker.ready.then(() => true)");
    const film = Buffer.from(await page.evaluate<string>(FILM), "base64");
    expect(film.length).toBeGreaterThan(1_000);
    write("film.webm", film);
    await go("film.webm");
    await page.waitForFunction("navigator.serviceWorker.controller !== null");
    const player = file().locator("video");
    await expect.poll(() => player.getAttribute("src")).toMatch(/^\/v1\/devices\/.*\?inline=true$/);
    await expect.poll(() => page.evaluate("document.querySelector('video').videoWidth")).toBe(64);
    await page.evaluate("document.querySelector('video').play()");
    await expect
      .poll(() => page.evaluate<number>("document.querySelector('video').currentTime"))
      .toBeGreaterThan(0);
    await expectNoObjections(opened);
    const part = await page.evaluate<number[]>(`(async () => {
      const answer = await fetch(document.querySelector("video").src, { headers: { Range: "bytes=10-19" } });
      return [answer.status];
    })()`);
    // What a script of the page asks for by itself gets no token.
    expect(part).toEqual([401]);
    write("broken.webm", "this is no film");
    await go("broken.webm");
    await file().getByText("this browser can't play this format").waitFor();
    await expectNoObjections(opened);
  });
});

/** Half a second of a square that changes its colour, as base64. */
const FILM = `(async () => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 64, height: 48 });
  const context = canvas.getContext("2d");
  const recorder = new MediaRecorder(canvas.captureStream(20), { mimeType: "video/webm" });
  const parts = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const ended = new Promise((resolve) => (recorder.onstop = resolve));
  recorder.start();
  for (let at = 0; at < 12; at++) {
    context.fillStyle = at % 2 ? "red" : "blue";
    context.fillRect(0, 0, 64, 48);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  recorder.stop();
  await ended;
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
})()`;
