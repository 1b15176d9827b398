/** Which files stand for a mounted program. */
import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { programParts } from "../../../agent/mounts/program-parts.ts";
import { temporaryFolder } from "../../helpers/folder.ts";

function folderWith(...names: string[]) {
  const folder = temporaryFolder();
  for (const name of names) {
    writeFileSync(join(folder, name), name);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

async function filesOf(folder: string, command: string, ...args: string[]) {
  const parts = await programParts({ command, args }, { PATH: folder }, folder);
  return parts.map(({ path }) => path.slice(folder.length + 1));
}

it.each<[string, string[], string[]]>([
  ["server", ["notes.db"], ["server"]],
  ["./server", [], ["server"]],
  ["node", ["--enable-source-maps", "index.js", "notes.db"], ["index.js"]],
  ["node", ["--import", "hook.mjs", "index.js"], ["hook.mjs", "index.js"]],
  ["node", ["server", "notes.db"], ["server"]],
  ["python3.12", ["-m", "notes", "notes.db"], []],
  ["python3.12", ["main.py"], ["main.py"]],
  ["npx", ["-y", "server"], []],
  ["not-there", [], []],
])("%s %j: %j", async (command, args, files) => {
  const folder = folderWith(
    ...["server", "node", "npx", "python3.12", "index.js", "hook.mjs", "main.py", "notes.db"],
  );
  expect(await filesOf(folder, command, ...args)).toEqual(files);
});

it("a link is what it leads to, and other bytes are another program", async () => {
  const folder = folderWith("old", "new");
  symlinkSync("old", join(folder, "server"));
  const before = await programParts({ command: "server" }, { PATH: folder }, folder);
  expect(before).toMatchObject([{ path: join(folder, "old") }]);
  writeFileSync(join(folder, "old"), "changed");
  const after = await programParts({ command: "server" }, { PATH: folder }, folder);
  expect(after[0]?.sha256).not.toBe(before[0]?.sha256);
});
