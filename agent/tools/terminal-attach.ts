/** TerminalAttach: shows a terminal, and types into it, through the stream that the call opens. */
import * as z from "zod";
import { shellOf } from "../core/gate.ts";
import { defineTool } from "../core/tool.ts";
import { serveTerminal } from "../terminals/serve-terminal.ts";
import type { Terminals } from "../terminals/terminals.ts";
import { needsStreamError } from "../transfers/errors.ts";

const input = z.strictObject({
  terminal: z.string().min(1).max(64).describe("As `TerminalCreate` returned it"),
  from_sequence: z
    .int()
    .nonnegative()
    .optional()
    .describe(
      "Number of the first byte of output that is wanted (default: the screen as it is, as a snapshot)",
    ),
  write: z.boolean().optional().describe("Also type, resize and signal (default false)"),
});

export function terminalAttachTool(terminals: Terminals) {
  return defineTool({
    name: "TerminalAttach",
    family: "terminals",
    effect: "execute",
    description:
      "Watch a terminal and type into it, through a stream. For programs, which call it over a WebSocket with `opens`.",
    details:
      "Output that is no longer kept (it keeps the last 1 MiB) is replaced by a snapshot of the screen. Who takes nothing for five seconds is dropped, and may attach again from the byte where it stopped. The stream ends with `exit_code` or `signal`.",
    input,
    model: { hidden: true },
    interactive: true,
    timeoutMs: 30_000,
    prepare: (_request, { rights }) => ({
      tools: [{ tool: "Bash", does: "A terminal runs commands" }],
      shell: shellOf(rights),
    }),
    async preview({ terminal, write = false }, caller) {
      const { id, pid, record } = await terminals.enter(terminal, caller);
      return {
        summary: `${write ? "Watch and type into" : "Watch"} the terminal ${id} of ${record.shell}`,
        bound: { "the terminal": `${id} ${pid}` },
      };
    },
    async handle({ terminal, from_sequence, write = false }, { grant, rights, opensStream }) {
      const { id, cols, rows, begin, end, recorded } = await terminals.enter(terminal, { grant, rights });
      if (!opensStream) throw needsStreamError("TerminalAttach");
      const label = labelOf(grant);
      return {
        output: `Attached to ${id}`,
        metadata: { terminal: id, cols, rows, first_sequence: begin, next_sequence: end, write, recorded },
        stream: serveTerminal({
          ...{ write, label },
          attach: () => terminals.view({ id, from: from_sequence, write, label }, grant),
        }),
      };
    },
  });
}

/** What others who watch it are told. */
function labelOf({ id, owner }: { readonly id: string; readonly owner: boolean }): string {
  return owner ? "owner" : id;
}
