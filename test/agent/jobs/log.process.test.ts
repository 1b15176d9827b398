/** A job's log on a full drive: a cut that finds no room loses nothing. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { JobLog } from "../../../agent/jobs/log.ts";
import { JOB_LIMITS } from "../../../agent/jobs/record.ts";
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
