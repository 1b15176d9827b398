/**
 * Two commands of one grant: while the sandbox of one is made, the other keeps putting something else in the place of a
 * folder that holds closed files. None of the launches may show what is closed or outside, or change what must not be
 * changed; and none leaves anything outside.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Bwrap } from "../../../agent/sandbox/bwrap.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { LONG } from "../../helpers/long-mode.ts";
import { NEEDS_ROOT } from "../../helpers/parts.ts";
import { Workbench } from "../tools/workbench.ts";
import { NEEDS_SANDBOX } from "./needs-sandbox.ts";

const LAUNCHES = LONG ? 1250 : 25;
const SECRET = "s3cret-canary";
/** What only the folder itself holds: its closed file. */
const CLOSED = "c1osed-canary";

interface Places {
  readonly work: string;
  readonly outside: string;
}

/** Makes what stands in the folder's place for half of the time. */
const OTHERS = [
  ["a link to a folder outside", ({ outside }: Places) => linkTo(`/oldroot${outside}`)],
  ["a link to a closed folder", ({ work }: Places) => linkTo(`/oldroot${work}/closed`)],
  ["a link to the programs of the sandbox", () => linkTo("/newroot/usr/bin")],
  ["another folder with the same names", () => "makeFolder('other', 'decoy')"],
] as const;

describe("while folders are exchanged, the sandbox of another command", NEEDS_SANDBOX, () => {
  it.each(OTHERS)("holds against %s", (_what, other) => attack(exchanger(other)));
});

describe("while a folder is closed to the agent and opened again", NEEDS_SANDBOX, () => {
  it("the sandbox of another command keeps what is closed in it", () =>
    attack(shutter, "{ chmod 700 d; cat d/.env d/sub/.env; } 2> /dev/null; echo ran"));
});

describe("while folders are exchanged, the sandbox of root's command", NEEDS_ROOT, () => {
  it.each(OTHERS)("holds against %s", (_what, other) => attack(exchanger(other)));
});

describe("a folder that is exchanged between search and mount", NEEDS_SANDBOX, () => {
  it("is missed, though an empty one is in its place, and the command does not run", async () => {
    const { work, run } = await openGrant();
    for (const folder of ["d", "other", "closed"]) mkdirSync(path.join(work, folder));
    writeFileSync(path.join(work, "d/.env"), CLOSED);
    const exchange = () => {
      renameSync(path.join(work, "d"), path.join(work, "real"));
      renameSync(path.join(work, "other"), path.join(work, "d"));
    };
    const { wrap } = Bwrap.prototype;
    const wrapped = vi.spyOn(Bwrap.prototype, "wrap").mockImplementation(function (this: Bwrap, ...given) {
      const result = wrap.apply(this, given);
      const [, { granted }] = given;
      if (granted.includes(work) && existsSync(path.join(work, "other"))) exchange();
      return result;
    });
    onTestFinished(() => wrapped.mockRestore());
    const { output } = await run("cat d/.env real/.env; echo ran");
    expect(output).toContain("This did not run: a folder was moved while its sandbox was made");
    expect(output).not.toContain(CLOSED);
  });
});

const LOOK =
  "cat d/canary closed/canary d/.env real/.env 2> /dev/null; " +
  "{ : > d/.git/config; } 2> /dev/null && echo CHANGED; echo ran";

async function attack(attacker: (places: Places) => string, look = LOOK): Promise<void> {
  const { work, run } = await openGrant();
  const places = { work, outside: temporaryFolder() };
  const { outside } = places;
  for (const folder of [outside, path.join(work, "closed")]) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, "canary"), SECRET);
  }
  await run(`node -e ${quoted(attacker(places))}`, { run_in_background: true });
  await expect.poll(() => existsSync(path.join(work, "ready"))).toBe(true);

  let ran = 0;
  // How many are refused hangs on how the two fall in step.
  for (let launch = 0; launch < LAUNCHES || (ran === 0 && launch < 8 * LAUNCHES); launch++) {
    const answer = await run(look).catch((error) => error);
    // It may be refused, since folders are moved.
    const said = "output" in answer ? answer.output : failureOf(answer);
    expect(said).not.toMatch(new RegExp(`${SECRET}|${CLOSED}|CHANGED`));
    if (said === "ran\n") ran += 1;
  }
  expect(ran).toBeGreaterThan(0);
  await expectChanges(work);
  expect(readdirSync(outside)).toEqual(["canary"]);
}

async function openGrant() {
  const bench = await Workbench.open();
  const work = bench.at("work");
  mkdirSync(work);
  const effects: GrantScope["effects"] = ["read", "write", "execute"];
  const grant: GrantScope = { id: makeGrantId(), owner: false, effects, paths: [work] };
  const policy = { denied_paths: [path.join(work, "closed"), "**/.env"] };
  const session = bench.newSession(grant);
  session.cwd = work;
  const run = (command: string, more = {}) =>
    bench.call("Bash", { command, ...more }, { grant, session, policy });
  return { work, run };
}

/** The other command was not stopped by what the sandboxes did. */
async function expectChanges(work: string): Promise<void> {
  const state = () =>
    [work, path.join(work, "d")]
      .map((folder) => lstatSync(folder, { throwIfNoEntry: false })?.ctimeMs)
      .join();
  const before = state();
  await expect.poll(state).not.toBe(before);
}

function failureOf(error: unknown): string {
  expect(error).toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringContaining("moved while its sandbox was made"),
  });
  return String(error);
}

function linkTo(target: string): string {
  return `fs.symlinkSync("${target}", "other")`;
}

/** At times as fast as it can, and at times so slowly that a sandbox is made in between. */
function exchanger(makeOther: (places: Places) => string): (places: Places) => string {
  return (places) => `
    const fs = require("node:fs");
    const makeFolder = (name, content) => {
      fs.mkdirSync(name + "/.git/hooks", { recursive: true });
      fs.writeFileSync(name + "/.git/config", "");
      fs.writeFileSync(name + "/.env", content);
    };
    makeFolder("d", "${CLOSED}");
    ${makeOther(places)};
    fs.writeFileSync("ready", "");
    const hold = (most) => { for (const end = performance.now() + most * Math.random(); performance.now() < end;); };
    // A sandbox makes mount points where a folder was, perhaps while they are removed.
    const remove = (made) => {
      try {
        fs.rmSync(made, { recursive: true, force: true });
      } catch {}
    };
    const move = (from, to) => {
      for (;;)
        try {
          return fs.renameSync(from, to);
        } catch {
          remove(to);
        }
    };
    for (;;) {
      const most = Math.random() < 0.5 ? 0 : 8;
      for (let turn = 0; turn < 20; turn++) {
        move("d", "real");
        move("other", "d");
        hold(most);
        move("d", "other");
        move("real", "d");
        hold(most);
      }
    }`;
}

function shutter(): string {
  return `
    const fs = require("node:fs");
    fs.mkdirSync("d/sub", { recursive: true });
    for (const file of ["d/.env", "d/sub/.env"]) fs.writeFileSync(file, "${CLOSED}");
    fs.writeFileSync("ready", "");
    const hold = (most) => { for (const end = performance.now() + most * Math.random(); performance.now() < end;); };
    for (;;) {
      const most = Math.random() < 0.5 ? 0 : 8;
      for (const mode of [0o000, 0o700, 0o400, 0o700, 0o300, 0o700]) {
        fs.chmodSync("d", mode);
        hold(most);
      }
    }`;
}

function quoted(script: string): string {
  return `'${script.replaceAll("'", `'\\''`)}'`;
}
