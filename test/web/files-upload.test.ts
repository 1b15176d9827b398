/** Files that are uploaded in the app: dropped or chosen, through machines that vanish and pages that are loaded again. */
import { createHash, randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CDPSession, Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectNoObjections, type Opened, startApp } from "./app.ts";

const MIB = 1024 * 1024;

describe("files that are uploaded", NEEDS_CHROMIUM, () => {
  const app = startApp();
  let from: string;
  let to: string;
  let opened: Opened;
  let page: Page;
  let devtools: CDPSession;

  beforeEach(() => {
    from = realpathSync(mkdtempSync(join(tmpdir(), "matrx-from-")));
    to = realpathSync(mkdtempSync(join(tmpdir(), "matrx-to-")));
  });
  afterEach(() => {
    for (const folder of [from, to]) rmSync(folder, { recursive: true, force: true });
    expect(opened.faults).toEqual([]);
  });

  const write = (name: string, content: string | Uint8Array) => writeFileSync(join(from, name), content);
  const panel = () => page.getByRole("region", { name: "Uploads" });
  const names = () => page.getByRole("grid").locator("[role=row][data-index] bdi").allTextContents();
  const digest = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");
  const shown = () => readdirSync(to).filter((name) => !name.startsWith("."));

  async function open(): Promise<void> {
    opened = await app.open(`/d/${app.machine.id}/files${to}`);
    page = opened.page;
    devtools = await page.context().newCDPSession(page);
    await page.getByRole("grid").waitFor();
  }

  const choose = (paths: string[], label = "Files to upload") =>
    page.getByLabel(label).setInputFiles(paths.map((name) => join(from, name)));

  /** As from the person's own desktop. */
  async function drop(name: string): Promise<void> {
    const box = await page.getByRole("grid").boundingBox();
    const [x, y] = [(box?.x ?? 0) + 50, (box?.y ?? 0) + 100];
    const data = { items: [], files: [join(from, name)], dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"] as const)
      await devtools.send("Input.dispatchDragEvent", { type, x, y, data });
  }

  const throttle = (bytesPerSecond: number) =>
    devtools.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: bytesPerSecond,
    });

  /** Ends what is being sent, and waits until it has: what is still on its way would arrive at once without a throttle. */
  async function breakOff(button: "Pause" | "Cancel"): Promise<void> {
    const broken = page.waitForEvent("requestfailed", (request) => request.method() === "PATCH");
    await panel().getByRole("button", { name: button }).click();
    await broken;
  }

  test("arrive, and stand in the list", async () => {
    write("a.txt", "first");
    write("b.bin", randomBytes(3 * MIB));
    write("empty", "");
    await open();
    await choose(["a.txt", "b.bin", "empty"]);
    await panel().getByText("3 files uploaded").waitFor();
    await expect.poll(names).toEqual(["a.txt", "b.bin", "empty"]);
    expect(digest(join(to, "b.bin"))).toBe(digest(join(from, "b.bin")));
    await panel().getByRole("button", { name: "Details" }).click();
    await expectNoObjections(opened);
    await panel().getByRole("button", { name: "Close" }).click();
    await panel().waitFor({ state: "detached" });
  });

  test("come with the folders that are dropped", async () => {
    mkdirSync(join(from, "garden", "deep"), { recursive: true });
    write("garden/one.txt", "1");
    write("garden/deep/two.txt", "2");
    await open();
    await drop("garden");
    await panel().getByText("2 files uploaded").waitFor();
    await expect.poll(names).toEqual(["garden"]);
    expect(readFileSync(join(to, "garden/deep/two.txt"), "utf8")).toBe("2");
  });

  test("come with folders that have nothing in them", async () => {
    mkdirSync(join(from, "garden", "later", "deep"), { recursive: true });
    write("garden/one.txt", "1");
    await open();
    await drop("garden");
    await panel().getByText("1 file uploaded").waitFor();
    await expect.poll(() => existsSync(join(to, "garden/later/deep"))).toBe(true);
    mkdirSync(join(from, "empty"));
    await drop("empty");
    await expect.poll(names).toEqual(["empty", "garden"]);
    expect(readdirSync(join(to, "empty"))).toEqual([]);
  });

  test("whose names are taken are asked about: both are kept, one replaces, one is left out", async () => {
    for (const name of ["a.txt", "b.txt", "c.txt"]) {
      write(name, "mine");
      writeFileSync(join(to, name), "theirs");
    }
    await open();
    await choose(["a.txt", "b.txt", "c.txt"]);
    const question = page.getByRole("region", { name: "A name is taken" });
    await question.getByText("a.txt is already there.").waitFor();
    await expectNoObjections(opened);
    await question.getByRole("button", { name: "Keep both" }).click();
    await question.getByText("b.txt is already there.").waitFor();
    await question.getByRole("button", { name: "Replace" }).click();
    await question.getByText("c.txt is already there.").waitFor();
    await question.getByRole("button", { name: "Skip" }).click();
    await panel().getByText("2 files uploaded").waitFor();
    await expect.poll(names).toEqual(["a (2).txt", "a.txt", "b.txt", "c.txt"]);
    const texts = ["a (2).txt", "a.txt", "b.txt", "c.txt"].map((name) =>
      readFileSync(join(to, name), "utf8"),
    );
    expect(texts).toEqual(["mine", "theirs", "mine", "theirs"]);
  });

  test("are paused and go on, with their speed and the time that is left", async () => {
    write("film.bin", randomBytes(6 * MIB));
    await open();
    await throttle(MIB);
    await choose(["film.bin"]);
    await panel()
      .getByText(/of 6\.0 MiB · .*\/s · .* left/)
      .waitFor();
    await breakOff("Pause");
    await panel().getByText("1 paused").waitFor();
    expect(shown()).toEqual([]);
    await throttle(-1);
    await panel().getByRole("button", { name: "Go on" }).click();
    await panel().getByText("1 file uploaded").waitFor();
    expect(digest(join(to, "film.bin"))).toBe(digest(join(from, "film.bin")));
  });

  test("go on by themselves when the machine vanishes and comes back, from where they were", async () => {
    write("film.bin", randomBytes(8 * MIB));
    await open();
    await throttle(MIB);
    const offsets: number[] = [];
    page.on("request", (request) => {
      if (request.method() === "PATCH") offsets.push(Number(request.headers()["upload-offset"]));
    });
    await choose(["film.bin"]);
    await panel().getByText(/\/s/).waitFor();
    await expect.poll(() => panel().textContent()).toMatch(/[23]\.\d MiB of/);
    if (app.machine.agent.pid) process.kill(app.machine.agent.pid, "SIGKILL");
    await throttle(-1);
    await expect.poll(() => panel().textContent(), { timeout: 50_000 }).toContain("1 file uploaded");
    expect(digest(join(to, "film.bin"))).toBe(digest(join(from, "film.bin")));
    expect(offsets.length).toBeGreaterThan(1);
    expect(offsets.at(-1)).toBeGreaterThan(0);
  });

  test("that were interrupted by a reload go on when they are chosen again", async () => {
    write("film.bin", randomBytes(6 * MIB));
    await open();
    await throttle(MIB);
    await choose(["film.bin"]);
    await expect.poll(() => panel().textContent()).toMatch(/[23]\.\d MiB of/);
    await breakOff("Pause");
    await page.reload();
    await panel().getByText("The page was loaded anew").waitFor();
    await throttle(-1);
    const offsets: number[] = [];
    page.on("request", (request) => {
      if (request.method() === "PATCH") offsets.push(Number(request.headers()["upload-offset"]));
    });
    write("other.bin", "no");
    await choose(["other.bin"], "The same files again");
    await page.getByText("These are other files").waitFor();
    await choose(["film.bin"], "The same files again");
    await panel().getByText("1 file uploaded").waitFor();
    expect(digest(join(to, "film.bin"))).toBe(digest(join(from, "film.bin")));
    expect(offsets[0]).toBeGreaterThan(0);
  });

  test("that are cancelled leave nothing", async () => {
    write("film.bin", randomBytes(6 * MIB));
    await open();
    await throttle(MIB / 2);
    await choose(["film.bin"]);
    await panel().getByText(/\/s/).waitFor();
    await breakOff("Cancel");
    await panel().waitFor({ state: "detached" });
    await throttle(-1);
    await expect.poll(() => readdirSync(to)).toEqual([]);
    // Also one that is paused, of which a part has arrived.
    await throttle(MIB / 2);
    await choose(["film.bin"]);
    await expect.poll(() => panel().textContent()).toMatch(/[12]\.\d MiB of/);
    await breakOff("Pause");
    await throttle(-1);
    expect(readdirSync(to)).toHaveLength(1);
    await panel().getByRole("button", { name: "Cancel" }).click();
    await panel().waitFor({ state: "detached" });
    await expect.poll(() => readdirSync(to)).toEqual([]);
    expect(existsSync(join(to, "film.bin"))).toBe(false);
  });
});
