/** TerminalClose: ends a terminal with everything that runs in it. */
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import type { Terminals } from "../terminals/terminals.ts";

const input = z.strictObject({
  terminal: z.string().min(1).max(64).describe("As `TerminalCreate` returned it"),
});

export function terminalCloseTool(terminals: Terminals) {
  return defineTool({
    name: "TerminalClose",
    family: "terminals",
    effect: "execute",
    confinable: true,
    description: "End a terminal and all that runs in it, in the background too.",
    details: "It hangs up, and kills what is left after half a second.",
    input,
    model: { hidden: true },
    timeoutMs: 30_000,
    async preview({ terminal }, { grant }) {
      const { id, pid, record, foreground } = await terminals.find(terminal, grant);
      const running = foreground === null ? "" : `, where this runs: ${foreground}`;
      return {
        summary: `Close the terminal ${id} of ${record.shell}${running}`,
        bound: { "the terminal to close": `${id} ${pid}` },
      };
    },
    async handle({ terminal }, { grant }) {
      const left = await terminals.close(terminal, grant);
      const but = left.length > 0 ? `, but the agent's user can't stop ${left.length} of its processes` : "";
      return { output: `Closed ${terminal}${but}`, metadata: { terminal, processes_left: left.length } };
    },
  });
}
