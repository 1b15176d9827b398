import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PauseFile } from "../../../agent/config/pause-file.ts";
import { temporaryFolder } from "../../helpers/folder.ts";

function openFile(pauseFile = join(temporaryFolder(), "pause.json")) {
  return new PauseFile({ pauseFile });
}

test("a pause outlives the program, and only this user can read it", () => {
  const file = openFile();
  expect(file.current).toBeUndefined();
  file.pause("ai");
  expect(openFile(file.path).current).toBe("ai");
  expect(statSync(file.path).mode & 0o777).toBe(0o600);
  file.resume();
  expect([file.current, openFile(file.path).current]).toEqual([undefined, undefined]);
});

test("a pause never opens what another one closed", () => {
  const file = openFile();
  file.pause("everyone");
  const first = readFileSync(file.path, "utf8");
  file.pause("ai");
  expect(file.current).toBe("everyone");
  expect(readFileSync(file.path, "utf8")).toBe(first);
});

test("what another program wrote or deleted is obeyed", () => {
  const file = openFile();
  const other = openFile(file.path);
  other.pause("everyone");
  file.look();
  expect(file.current).toBe("everyone");
  other.resume();
  file.look();
  expect(file.current).toBeUndefined();
});

test.each(["", "{", "{}", '{"paused":"nobody","since":""}', '{"paused":"ai"}', "\u0000\u0000"])(
  "a damaged file closes the machine to everyone, until it is resumed: %j",
  (text) => {
    const file = openFile();
    writeFileSync(file.path, text);
    file.look();
    expect(file.current).toBe("everyone");
    expect(openFile(file.path).current).toBe("everyone");
    expect(file.damage).toContain("pause.json");
    file.resume();
    expect([file.current, file.damage, existsSync(file.path)]).toEqual([undefined, undefined, false]);
  },
);

test("a pause that cannot be written holds as long as the program runs, and is written when that works", () => {
  const home = join(temporaryFolder(), "home");
  symlinkSync(`${home}-on-a-drive`, home);
  const file = openFile(join(home, "pause.json"));
  expect(() => file.pause("ai")).toThrow("cannot be");
  file.look();
  expect(file.current).toBe("ai");
  mkdirSync(`${home}-on-a-drive`);
  file.pause("ai");
  expect(openFile(file.path).current).toBe("ai");
});
