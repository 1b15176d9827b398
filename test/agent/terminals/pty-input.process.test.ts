/** What is typed into a program that does not read: a named pipe stands in for its terminal, which swallows what it must. */
import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { PtyInput } from "../../../agent/terminals/holder/pty-input.ts";
import { TERMINAL_LIMITS } from "../../../agent/terminals/protocol.ts";
import { temporaryFolder } from "../../helpers/folder.ts";

const KiB = 1024;

function openPipe(): number {
  const path = join(temporaryFolder(), "pipe");
  execFileSync("mkfifo", [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(fd));
  return fd;
}

test("it is full once more waits than one message may have, and has room again when it is read, in order", async () => {
  const fd = openPipe();
  const input = new PtyInput(fd);
  const all = Buffer.from(Array.from({ length: 300 * KiB }, (_, at) => (at * 7) % 251));
  for (let at = 0; at < all.length; at += 4 * KiB) input.write(all.subarray(at, at + 4 * KiB));
  expect(input.isFull).toBe(true);
  const parts: Buffer[] = [];
  const drained = input.drained();
  let read = 0;
  while (read < all.length) {
    await expect.poll(() => tryToRead(fd, parts), { interval: 1 }).toBeGreaterThan(0);
    read = Buffer.concat(parts).length;
  }
  await drained;
  expect(input.isFull).toBe(false);
  expect(Buffer.concat(parts).equals(all)).toBe(true);
});

function tryToRead(fd: number, parts: Buffer[]): number {
  const bytes = Buffer.alloc(256 * KiB);
  try {
    const count = readSync(fd, bytes);
    parts.push(bytes.subarray(0, count));
    return count;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EAGAIN") return 0;
    throw error;
  }
}

test("a closed one writes nothing more: its descriptor may be another file's", async () => {
  const fd = openPipe();
  const input = new PtyInput(fd);
  input.write(Buffer.alloc(64 * KiB + TERMINAL_LIMITS.inputBytes + 1));
  expect(input.isFull).toBe(true);
  const drained = input.drained();
  input.close();
  await drained;
  const parts: Buffer[] = [];
  while (tryToRead(fd, parts) > 0);
  const before = Buffer.concat(parts).length;
  input.write(Buffer.from("late"));
  expect([before, tryToRead(fd, parts)]).toEqual([64 * KiB, 0]);
});
