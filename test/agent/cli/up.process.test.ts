/** `matrx up --serve`, used wrongly, and where it cannot. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { homeOf, makeHome } from "../../../agent/config/app-dirs.ts";
import { writeConfig } from "../../../agent/config/config.ts";
import { makeIdentity, writeIdentity } from "../../../agent/config/identity.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { runMatrx } from "./matrx.ts";

test.each([
  [["--serve", "99999"], /--serve: "99999" is not a port/],
  [["--serve", "--allow-origin", "https://a.example/path"], /is not an origin/],
  [["--allow-origin", "https://a.example"], /Add --serve/],
])("wrong use is said plainly: up %j", async (args, says) => {
  const ended = await runMatrx(["up", ...args], { home: temporaryFolder() });
  expect(ended).toMatchObject({ code: 64, stdout: "" });
  expect(ended.stderr).toMatch(says);
});

test("a port that is taken ends it with a sentence, and it connects nowhere", async () => {
  const home = temporaryFolder();
  const place = homeOf({ MATRX_HOME: home });
  makeHome(place);
  const taken = createServer((socket) => socket.destroy());
  onTestFinished(() => void taken.close());
  let dials = 0;
  taken.on("connection", () => dials++);
  await once(taken.listen(0, "127.0.0.1"), "listening");
  const { port } = taken.address() as AddressInfo;
  writeConfig(place, { relay: `http://127.0.0.1:${port}`, device_id: "box-0123456789", name: "box" });
  writeIdentity(place, makeIdentity());
  const { code, stderr } = await runMatrx(["up", "--serve", `${port}`], { home });
  expect(code).toBe(69);
  expect(stderr).toContain(`Port ${port} is in use`);
  expect(dials).toBe(0);
});

test("without a terminal, a machine that is not paired is not told to type the same again", async () => {
  const home = temporaryFolder();
  const { code, stderr } = await runMatrx(["up", "--relay", "http://localhost:9"], { home });
  expect(code).toBe(68);
  expect(stderr).toMatch(/not paired yet/);
  expect(stderr).toMatch(/takes a terminal: run (npx )?matrx pair[\s\S]*up --yes accepts whichever account/);
});
