import { mkdirSync, symlinkSync } from "node:fs";
import { relative } from "node:path";
import { expect, test } from "vitest";
import { linkChain } from "../../../agent/fs/link-chain.ts";
import { currentPlatform } from "../../../agent/platform/current.ts";
import { Workbench } from "../tools/workbench.ts";

test.each([
  { target: "near/..", leads: "far" },
  { target: "near/../..", leads: "" },
  { target: ".", leads: "" },
  { target: "here/..", leads: "" },
  { target: "near/../near2/..", leads: "far" },
])("a link to $target ends in the folder itself", async ({ target, leads }) => {
  const bench = await Workbench.open();
  mkdirSync(bench.at("far/deep"), { recursive: true });
  symlinkSync("far/deep", bench.at("near"));
  symlinkSync("../far/deep", bench.at("far/near2"));
  symlinkSync(".", bench.at("here"));
  symlinkSync(target, bench.at("state"));
  const last = [...linkChain(bench.at("state"), currentPlatform())].at(-1);
  expect({ ...last, path: relative(bench.home, last?.path ?? "none") }).toEqual({
    ...{ path: target === "here/.." ? ".." : leads, isLink: false, rest: [] },
  });
});

test("two dots in a link lead out of where the link before them leads", async () => {
  const bench = await Workbench.open();
  mkdirSync(bench.at("far/deep"), { recursive: true });
  mkdirSync(bench.at("far/state"));
  symlinkSync("far/deep", bench.at("near"));
  symlinkSync("near/../state", bench.at("state"));
  const steps = [...linkChain(bench.at("state"), currentPlatform())].map(({ path, isLink }) => ({
    path: relative(bench.home, path),
    isLink,
  }));
  expect(steps.slice(-5)).toEqual([
    { path: "state", isLink: true },
    { path: "near", isLink: true },
    { path: "far", isLink: false },
    { path: "far/deep", isLink: false },
    { path: "far/state", isLink: false },
  ]);
});
