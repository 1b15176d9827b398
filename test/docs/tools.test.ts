/** docs/tools.md, and what the relay holds about tools, are what the tools say of themselves. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { manifestOf } from "../../agent/core/manifest.ts";
import { defineTool } from "../../agent/core/tool.ts";
import { ROOT } from "../../scripts/tree.ts";
import { Workbench } from "../agent/tools/workbench.ts";
import { builtInTable } from "./built-in-table.ts";
import { toolsPage } from "./tools-page.ts";

test("the page lists every tool as it is", async () => {
  const { tools } = await Workbench.open();
  const manifest = await manifestOf(tools.map(({ unavailable: _, ...tool }) => tool));
  expectWritten("docs/tools.md", toolsPage(manifest.tools));
});

test("what the relay holds about each tool is what its file says", async () => {
  const { tools } = await Workbench.open();
  expectWritten("shared/built-in-tools.ts", builtInTable(tools));
});

test("a new tool needs no other place: its own file says what the relay holds about it", async () => {
  const { tools } = await Workbench.open();
  const moonPhase = defineTool({
    ...{ name: "MoonPhase", family: "system", effect: "read", confinable: true },
    ...{ description: "Tell the phase of the moon.", input: z.strictObject({}), timeoutMs: 1000 },
    model: { prompt: "Tell the phase of the moon" },
    handle: async () => ({ output: "" }),
  });
  const lines = builtInTable([...tools, moonPhase]).split("\n");
  const added = lines.filter((line) => line.startsWith("  MoonPhase:"));
  expect(added).toEqual([
    '  MoonPhase: "read",',
    '  MoonPhase: "system",',
    '  MoonPhase: "Tell the phase of the moon",',
    "  MoonPhase: true,",
  ]);
  const { model: _, ...promptless } = moonPhase;
  expect(() => builtInTable([promptless])).toThrow("MoonPhase has no model.prompt");
  const { family: __, ...homeless } = moonPhase;
  expect(() => builtInTable([homeless])).toThrow("MoonPhase declares no family");
});

function expectWritten(file: string, wanted: string): void {
  const path = join(ROOT, file);
  if (process.env.UPDATE_DOCS === "1") writeFileSync(path, wanted);
  expect(readFileSync(path, "utf8"), "UPDATE_DOCS=1 writes it anew").toBe(wanted);
}
