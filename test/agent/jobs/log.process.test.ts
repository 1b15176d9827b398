/** A job's log and record on a full drive: what finds no room loses nothing, and leaves nothing behind. */
import { readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { JobLog } from "../../../agent/jobs/log.ts";
import { JOB_LIMITS, type JobRecord, loadRecord, saveRecord } from "../../../agent/jobs/record.ts";
import { mountDrive } from "../../helpers/drive.ts";
import { NEEDS_ROOT } from "../../helpers/parts.ts";

const MiB = 1024 * 1024;
const LIMITS = { ...JOB_LIMITS, logHeadBytes: MiB, logTailBytes: 4 * MiB, logLiveBytes: 8 * MiB };

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
