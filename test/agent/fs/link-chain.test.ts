import { mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { linkChain } from "../../../agent/fs/link-chain.ts";
import { currentPlatform } from "../../../agent/platform/current.ts";
import { Workbench } from "../tools/workbench.ts";

test("two dots in a link lead out of where the link before them leads", async () => {
  const bench = await Workbench.open();
  mkdirSync(bench.at("far/deep"), { recursive: true });
  mkdirSync(bench.at("far/state"));
  symlinkSync("far/deep", bench.at("near"));
  symlinkSync("near/../state", bench.at("state"));
  const steps = [...linkChain(bench.at("state"), currentPlatform())].map(({ place, isLink }) => ({
    place: path.relative(bench.home, place),
    isLink,
  }));
  expect(steps.slice(-5)).toEqual([
    { place: "state", isLink: true },
    { place: "near", isLink: true },
    { place: "far", isLink: false },
    { place: "far/deep", isLink: false },
    { place: "far/state", isLink: false },
  ]);
});
