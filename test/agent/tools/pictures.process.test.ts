/** What one caller was shown, such as the owner's screen, is not seen by another that may read temporary files. */
import { lstatSync } from "node:fs";
import path from "node:path";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { beforeEach, expect, it, vi } from "vitest";
import { parseInput } from "../../../agent/core/input.ts";
import { pictureForModel } from "../../../agent/pictures/for-model.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { makePng } from "../../helpers/png.ts";
import { NEEDS_SANDBOX } from "../sandbox/needs-sandbox.ts";
import { failure, Workbench } from "./workbench.ts";

let temporary: string;

beforeEach(() => {
  temporary = temporaryFolder();
  vi.stubEnv("TMPDIR", temporary);
  return () => vi.unstubAllEnvs();
});

const PICTURE = makePng(4, 4, () => [1, 2, 3]);

async function benchWithPicture() {
  const bench = await Workbench.open();
  const file = await bench.desktop.pictures.of(bench.owner.id).keep(PICTURE, "png");
  const as = (more: Partial<GrantScope> = {}) => {
    const grant: GrantScope = { ...bench.owner, id: makeGrantId(), owner: false, ...more };
    return { grant, session: bench.newSession(grant) };
  };
  return { bench, file, as };
}

it("the owner's pictures are closed to an AI, wherever it may read, and the owner sees them", async () => {
  const { bench, file, as } = await benchWithPicture();
  for (const ai of [as(), as({ paths: [temporary] }), as({ secrets: "open" })]) {
    for (const input of [{ file_path: file }, { file_path: file, raw: true }])
      expect(await failure(bench.call("Read", input, ai))).toMatchObject({ code: "PERMISSION_DENIED" });
    const input = { pattern: "matrx-pictures-*/*", path: temporary };
    expect((await bench.call("Glob", input, ai)).output).not.toContain(path.basename(path.dirname(file)));
    const move = { source: path.dirname(file), destination: `${path.dirname(file)}-moved` };
    expect(await failure(bench.call("Move", move, ai))).toMatchObject({ code: "PERMISSION_DENIED" });
  }
  expect((await bench.call("Read", { file_path: file })).image?.media_type).toBe("image/png");
});

it("an AI reads its own, and puts nothing in the place of their folder", async () => {
  const { bench, as } = await benchWithPicture();
  const ai = as();
  const file = await bench.desktop.pictures.of(ai.grant.id).keep(PICTURE, "png");
  expect((await bench.call("Read", { file_path: file }, ai)).image?.media_type).toBe("image/png");
  const move = { source: path.dirname(file), destination: `${path.dirname(file)}-moved` };
  for (const [tool, input] of [
    ["Move", move],
    ["Delete", { path: file }],
  ] as const)
    expect(await failure(bench.call(tool, input, ai))).toMatchObject({ code: "PERMISSION_DENIED" });
  expect(lstatSync(file).isFile()).toBe(true);
});

it("commands see none of another's", NEEDS_SANDBOX, async () => {
  const { bench, file, as } = await benchWithPicture();
  const ai = as({ paths: [temporary] });
  const command = `cat '${file}' | wc -c; ls '${path.dirname(file)}' | wc -l`;
  expect((await bench.call("Bash", { command }, ai)).output).toMatch(/(?:^|\n)0\n0\n/);
});

it("a picture that waits for its turn takes no room from others' answers", async () => {
  const bench = await Workbench.open();
  await bench.put("picture.png", PICTURE);
  const before = Promise.withResolvers<void>();
  const { signal } = new AbortController();
  const first = pictureForModel(() => before.promise.then(() => PICTURE), { grant: bench.owner, signal });
  let hasRoom = false;
  const room = async () => {
    hasRoom = true;
  };
  const tool = bench.tool("Read");
  const input = parseInput(tool, { file_path: bench.at("picture.png") });
  const second = Promise.resolve(tool.handle(input, { ...bench.context(), room }));
  // Long enough for the file to be opened, were it not for the turn.
  await (await bench.call("Read", { file_path: bench.at("picture.png"), raw: true })).image;
  expect(hasRoom).toBe(false);
  before.resolve();
  await first;
  expect((await second).image?.media_type).toBe("image/png");
  expect(hasRoom).toBe(true);
});
