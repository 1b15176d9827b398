/** A disk that is full: what could not be written is said, nothing of the old is lost, and it goes on when there is room. */
import { readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { mountDrive } from "../helpers/drive.ts";
import { NEEDS_ROOT } from "../helpers/parts.ts";
import { expectNoObjections, startApp } from "./app.ts";

const MIB = 1024 * 1024;

describe("a disk that is full", NEEDS_CHROMIUM, () => {
  const app = startApp();

  /** Takes all the room that is left. */
  function fill(drive: string): string {
    const { bavail, bsize } = statfsSync(drive);
    const path = join(drive, "filler");
    writeFileSync(path, Buffer.alloc(bavail * bsize));
    return path;
  }

  test("takes no upload, and says so; the next try arrives", NEEDS_ROOT, async () => {
    const drive = mountDrive(4);
    const opened = await app.open(`/d/${app.machine.id}/files${drive}`);
    const { page } = opened;
    await page.getByText("This folder is empty.").waitFor();
    const uploads = page.getByRole("region", { name: "Uploads" });
    const filler = fill(drive);
    await page
      .getByLabel("Files to upload")
      .setInputFiles({ name: "film.bin", mimeType: "video/x", buffer: Buffer.alloc(2 * MIB, 7) });
    await uploads.getByText("1 failed").waitFor();
    await uploads.getByRole("button", { name: "Details" }).click();
    await uploads
      .getByText(/no space|full|room/i)
      .first()
      .waitFor();
    await expectNoObjections(opened);
    rmSync(filler);
    await uploads.getByRole("button", { name: "Go on" }).click();
    await uploads.getByText("1 file uploaded").waitFor();
    expect(readFileSync(join(drive, "film.bin")).equals(Buffer.alloc(2 * MIB, 7))).toBe(true);
  });

  test("takes no text that is saved, and the old one and what was typed stay", NEEDS_ROOT, async () => {
    const drive = mountDrive(4);
    writeFileSync(join(drive, "notes.md"), "old\n");
    const opened = await app.open(`/d/${app.machine.id}/files${drive}?file=notes.md&edit=true`);
    const { page } = opened;
    await page.getByLabel("Content of notes.md").focus();
    await page.keyboard.press("Control+End");
    await page.keyboard.insertText(`new line\n${"x".repeat(18_000)}`);
    await page.getByText("Not saved; kept in this tab").waitFor();
    const filler = fill(drive);
    await page.keyboard.press("Control+s");
    const alert = page.getByRole("region", { name: "File" }).getByRole("alert");
    await alert
      .getByText(/no space|full|room/i)
      .first()
      .waitFor();
    await expectNoObjections(opened);
    expect(readFileSync(join(drive, "notes.md"), "utf8")).toBe("old\n");
    rmSync(filler);
    await page.keyboard.press("Control+s");
    await page.getByText("notes.md was saved.").waitFor();
    expect(readFileSync(join(drive, "notes.md"), "utf8")).toMatch(/^old\nnew line\n/);
  });
});
