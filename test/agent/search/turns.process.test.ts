/** Searches of one caller, however many, leave the machine to others. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { expect, it } from "vitest";
import { SearchEngines } from "../../../agent/search/engines.ts";
import { globTool } from "../../../agent/tools/glob.ts";
import { grepTool } from "../../../agent/tools/grep.ts";
import { Workbench } from "../tools/workbench.ts";

it("a caller has four under way; a fifth waits for one of them, or for its own end, and nobody else does", async () => {
  const bench = await Workbench.open();
  await bench.put("file.txt", "needle\n");
  const engines = new SearchEngines();
  const guest = { grant: { ...bench.owner, id: makeGrantId() } };
  const { signal } = new AbortController();
  const turns = await Promise.all(Array.from({ length: 4 }, () => engines.turn({ ...guest, signal })));

  for (const [tool, input] of [
    [grepTool(bench.files, engines), { pattern: "needle", path: bench.home }],
    [globTool(bench.files, engines), { pattern: "*.txt", path: bench.home }],
  ] as const) {
    const stop = new AbortController();
    const given = bench.callTool(tool, input, { ...guest, signal: stop.signal });
    expect((await bench.callTool(tool, input)).output).toContain("file.txt");
    stop.abort(new Error("over"));
    await expect(given).rejects.toThrow("over");

    const time = new MatrxError({ code: "TIMEOUT", message: "time", hop: "agent" });
    const late = bench.callTool(tool, input, { ...guest, signal: AbortSignal.abort(time) });
    expect((await late).output).toContain("Time ran out");

    const waiting = bench.callTool(tool, input, guest);
    turns.pop()?.[Symbol.dispose]();
    expect((await waiting).output).toContain("file.txt");
    turns.push(await engines.turn({ ...guest, signal }));
  }
});
