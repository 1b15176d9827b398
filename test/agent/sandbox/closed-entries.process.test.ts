/** What a search finds of folders that another program exchanges at the worst moments. */
import type * as fs from "node:fs";
import { mkdirSync, renameSync, rmdirSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ClosedEntries } from "../../../agent/sandbox/closed-entries.ts";
import type { Question } from "../../../agent/sandbox/question.ts";
import { temporaryFolder } from "../../helpers/folder.ts";

/** Called around each reading of a folder, with where that is. */
type Turn = (folder: string) => unknown;
const around = vi.hoisted((): { before: Turn; after: Turn; changed?: number } => ({
  before: () => {},
  after: () => {},
}));

/** Within a test, the clock of the file system does not tick: all was changed just now, or at another time, and no change shows. */
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
        stat.ctimeMs = BigInt(around.changed ?? Date.now());
      }
      return stat;
    };
  const readdirSync = ((folder: string, options: { withFileTypes: true }) => {
    if (!options.withFileTypes) return real.readdirSync(folder, options);
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
  delete around.changed;
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

  it("once it was read, is searched where it is now", async () => {
    const turns = [exchange];
    around.after = (folder) => folder === at("d") && turns.shift()?.();
    expect(await closedEntries()).toContain(at("real/sub/.env"));
  });

  it("once it was read, and back once that was seen, is searched where it was", async () => {
    const turns = new Map([
      [at("d"), exchange],
      [at("d/sub"), exchangeBack],
    ]);
    around.after = (folder) => {
      turns.get(folder)?.();
      turns.delete(folder);
    };
    expect(await closedEntries()).toContain(at("d/sub/.env"));
    expect(turns.size).toBe(0);
  });

  it("for the first time in hours, while it is searched, is searched where it is now", async () => {
    rmdirSync(at("other/sub"));
    for (const folder of [work, at("other")]) utimesSync(folder, 0, 0);
    around.changed = 0;
    const turns = [exchange];
    around.after = (folder) => folder === at("d") && turns.shift()?.();
    expect(await closedEntries()).toContain(at("real/sub/.env"));
  });
});

describe("a folder that cannot be looked at by its name", () => {
  it("has the one around it read again once, and not until the time is up", async () => {
    // Its name is not UTF-8, so what is read of it leads nowhere.
    mkdirSync(Buffer.concat([Buffer.from(`${at("d")}/`), Buffer.from([0xff])]));
    for (const folder of [work, at("d")]) utimesSync(folder, 0, 0);
    around.changed = 0;
    const read: string[] = [];
    around.before = (folder) => read.push(folder);
    expect(await closedEntries()).toEqual([at("d/sub/.env")]);
    expect(read.filter((folder) => folder === at("d"))).toHaveLength(2);
  });
});

describe("a folder whose name is not UTF-8", () => {
  const unnameable = () => Buffer.concat([Buffer.from(`${at("d")}/`), Buffer.from([0xff])]);
  const inside = (name: string) => Buffer.concat([unnameable(), Buffer.from(`/${name}`)]);

  beforeEach(() => mkdirSync(unnameable()));

  it("can hold what is open", async () => {
    writeFileSync(inside("notes.txt"), "");
    expect(await closedEntries()).toEqual([at("d/sub/.env")]);
  });

  it.each([".env", "deep/.env"])(
    "refuses commands while it holds %s, which has no path by which to cover it",
    async (name) => {
      mkdirSync(inside("deep"));
      writeFileSync(inside(name), "");
      const refusal = { code: "UNAVAILABLE", message: expect.stringContaining("\\xff") };
      await expect(closedEntries()).rejects.toMatchObject(refusal);
    },
  );

  it("is looked into again, though the folder around it has not changed", async () => {
    const entries = new ClosedEntries();
    for (const folder of [work, at("d")]) utimesSync(folder, 0, 0);
    around.changed = 0;
    expect((await entries.find([work], question)).closed).toEqual([at("d/sub/.env")]);
    writeFileSync(inside(".env"), "");
    await expect(entries.find([work], question)).rejects.toMatchObject({ code: "UNAVAILABLE" });
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
