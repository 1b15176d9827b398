/** TerminalList: the open terminals that the caller may see. */
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import type { TerminalInfo } from "../terminals/protocol.ts";
import type { Terminals } from "../terminals/terminals.ts";
import { counted } from "../text/counted.ts";

export function terminalListTool(terminals: Terminals) {
  return defineTool({
    name: "TerminalList",
    description: "List the open terminals: the caller's own, and for the owner all of them.",
    details: "One that has ended is listed for another minute, with how it ended.",
    input: z.strictObject({}),
    model: { hidden: true },
    timeoutMs: 30_000,
    async handle(_request, { grant }) {
      const found = (await terminals.list(grant)).map(shown);
      const lines = found.map(({ terminal, name, shell, cwd, foreground, running }) =>
        [terminal, name, shell, cwd, running ? foreground : "ended"]
          .filter((part) => part !== undefined)
          .join("  "),
      );
      return {
        output: [`${counted(found.length, "terminal")}`, ...lines].join("\n"),
        metadata: { terminals: found },
      };
    },
  });
}

/** `first_sequence` and `next_sequence`: the bytes of output that are kept. */
function shown({ id, record, exit, ...info }: TerminalInfo) {
  const { grant, name, shell, started } = record;
  return {
    terminal: id,
    ...(name !== undefined && { name }),
    ...{ grant, shell, cwd: info.cwd ?? record.cwd, title: info.title },
    ...(info.foreground !== null && info.state !== "prompt" && { foreground: info.foreground }),
    ...{ cols: info.cols, rows: info.rows, first_sequence: info.begin, next_sequence: info.end },
    ...{ started: new Date(started).toISOString(), viewers: info.viewers.length },
    ...(info.recorded && { recorded: true }),
    running: exit === null,
    ...(exit && { exit_code: exit.code, exit_signal: exit.signal }),
  };
}
