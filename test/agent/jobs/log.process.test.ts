/** A job's log and record on a full drive: what finds no room loses nothing, and leaves nothing behind. */
import { appendFileSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { JobLog } from "../../../agent/jobs/log.ts";
import { JOB_LIMITS, type JobRecord, loadRecord, saveRecord } from "../../../agent/jobs/record.ts";
import { mountDrive } from "../../helpers/drive.ts";
import { NEEDS_ROOT } from "../../helpers/parts.ts";

const MiB = 1024 * 1024;
const LIMITS = { ...JOB_LIMITS, logHeadBytes: MiB, logTailBytes: 4 * MiB, logLiveBytes: 8 * MiB };
const SECOND = Buffer.alloc(9 * MiB, "second");
const FILES = ["filler", "log", "log.head", "log.tail"];

test("a log is cut later if the drive has no room for its end now", NEEDS_ROOT, async () => {
  const drive = mountDrive(16);
  const written = Buffer.alloc(9 * MiB);
  for (let at = 0; at < written.length; at += 4) written.writeUInt32LE(at, at);
  writeFileSync(join(drive, "log"), written);
  writeFileSync(join(drive, "filler"), Buffer.alloc(4 * MiB, 1));
  const log = new JobLog(drive, { base: 0, headBytes: 0, tailBytes: 0 }, LIMITS);

  await expect(log.cut()).rejects.toThrow(/ENOSPC/);
  expect(readFileSync(join(drive, "log")).equals(written)).toBe(true);

  rmSync(join(drive, "filler"));
  expect(await log.cut()).toBe(true);
  const tail = await log.read(written.length - 4 * MiB, 4 * MiB);
  expect(tail.offset).toBe(written.length - 4 * MiB);
  expect(tail.bytes.equals(written.subarray(tail.offset))).toBe(true);
  const head = await log.read(0, MiB);
  expect(head.bytes.equals(written.subarray(0, MiB))).toBe(true);
});

/** A log on a drive of 16 MiB, cut once; the drive is full. */
async function cutAndFull() {
  const drive = mountDrive(16);
  const log = new JobLog(drive, { base: 0, headBytes: 0, tailBytes: 0 }, LIMITS);
  writeFileSync(join(drive, "log"), Buffer.alloc(9 * MiB, "first "));
  expect(await log.cut()).toBe(true);
  appendFileSync(join(drive, "log"), SECOND);
  fill(drive);
  return { drive, log };
}

test("what was kept at the last cut gives its room to the next one", NEEDS_ROOT, async () => {
  const { drive, log } = await cutAndFull();
  expect(await log.cut()).toBe(true);
  expect(readdirSync(drive).sort()).toEqual(FILES);
  const { offset, bytes } = await log.read(5 * MiB, 8 * MiB);
  expect(offset).toBe(14 * MiB);
  expect(bytes.equals(SECOND.subarray(5 * MiB))).toBe(true);
});

test("a drive that has no room for the end even so loses none of it", NEEDS_ROOT, async () => {
  const { drive, log } = await cutAndFull();
  const longer = new JobLog(drive, log.shape, { ...LIMITS, logTailBytes: 6 * MiB });
  await expect(longer.cut()).rejects.toThrow(/ENOSPC/);
  expect(readdirSync(drive).sort()).toEqual(FILES);
  // The same for an agent that starts again, and knows the log as it was.
  for (const one of [longer, new JobLog(drive, log.shape, LIMITS)]) {
    const { offset, bytes } = await one.read(5 * MiB, 16 * MiB);
    expect(offset).toBe(9 * MiB);
    expect(bytes.equals(SECOND)).toBe(true);
  }
});

test("a record that finds no room leaves the old one, and no file of its own", NEEDS_ROOT, async () => {
  const drive = mountDrive(1);
  const record: JobRecord = {
    ...{ id: "job_0123456789", grant: "grant", command: "true", cwd: "/", background: false },
    ...{ started: 1, ended: null, deadline: null, pid: 1, began: "1", status: "running", exit: null },
    log: { base: 0, headBytes: 0, tailBytes: 0 },
  };
  await saveRecord(drive, record);
  const filler = fill(drive);
  for (let n = 0; n < 3; n++)
    await expect(saveRecord(drive, { ...record, status: "completed" })).rejects.toThrow(/ENOSPC/);
  expect(readdirSync(drive).sort()).toEqual(["filler", "job.json"]);
  rmSync(filler);
  expect(await loadRecord(drive)).toEqual(record);
});

/** A file that takes all room of a drive. */
function fill(drive: string): string {
  const file = join(drive, "filler");
  const { bavail, bsize } = statfsSync(drive);
  writeFileSync(file, Buffer.alloc(bavail * bsize));
  return file;
}
