/** What a search finds of folders that another program exchanges at the worst moments. */
import type * as fs from "node:fs";
import { mkdirSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ClosedEntries, type Question } from "../../../agent/sandbox/closed-entries.ts";
import { temporaryFolder } from "../../helpers/folder.ts";

/** Called around each reading of a folder, with where that is. */
type Turn = (folder: string) => unknown;
const around = vi.hoisted((): { before: Turn; after: Turn } => ({ before: () => {}, after: () => {} }));

/** Within a test, the clock of the file system does not tick: all was changed just now, and no change shows. */
const TICK = 3_600_000_000_000n;

vi.mock("node:fs", async (original) => {
  const real = await original<typeof fs>();
  const coarse =
    <Place>(look: (place: Place, options: { bigint: true }) => fs.BigIntStats | undefined) =>
    (place: Place, options: { bigint: true }) => {
      const stat = look(place, options);
      if (stat) {
        stat.mtimeNs -= stat.mtimeNs % TICK;
        stat.ctimeNs -= stat.ctimeNs % TICK;
        stat.ctimeMs = BigInt(Date.now());
      }
      return stat;
    };
  const readdirSync = ((folder: string, options: { withFileTypes: true }) => {
    const where = real.realpathSync.native(folder);
    around.before(where);
    const entries = real.readdirSync(folder, options);
    around.after(where);
    return entries;
  }) as typeof real.readdirSync;
  return { ...real, readdirSync, lstatSync: coarse(real.lstatSync), fstatSync: coarse(real.fstatSync) };
});

let work: string;

const question: Question = {
  key: "",
  isClosed: (entry) => path.basename(entry) === ".env",
  isUnchangeable: () => false,
  keepsRepositories: false,
  closesPipes: false,
  kindOfFile: () => undefined,
};

beforeEach(() => {
  work = temporaryFolder();
  around.before = () => {};
  around.after = () => {};
  mkdirSync(at("d/sub"), { recursive: true });
  writeFileSync(at("d/sub/.env"), "");
  mkdirSync(at("other/sub"), { recursive: true });
  // What is in them is old; they were moved just now.
  for (const folder of ["d", "d/sub", "other", "other/sub"]) utimesSync(at(folder), 0, 0);
});

describe("a folder that is exchanged", () => {
  it("while one in it is read, and back, is searched itself", async () => {
    around.before = (folder) => folder === at("d/sub") && exchange();
    around.after = (folder) => folder === at("d/sub") && exchangeBack();
    expect(await closedEntries()).toEqual([at("d/sub/.env")]);
  });

  it("before one in it is opened, and back within a tick of the clock, is searched itself", async () => {
    const turns = [exchange, exchangeBack];
    around.after = (folder) => folder.startsWith(at("d")) && turns.shift()?.();
    expect(await closedEntries()).toContain(at("d/sub/.env"));
  });
});

async function closedEntries(): Promise<readonly string[]> {
  return (await new ClosedEntries().find([work], question)).closed;
}

function at(name: string): string {
  return path.join(work, name);
}

function exchange(): void {
  renameSync(at("d"), at("real"));
  renameSync(at("other"), at("d"));
}

function exchangeBack(): void {
  renameSync(at("d"), at("other"));
  renameSync(at("real"), at("d"));
}
