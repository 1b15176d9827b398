/** TerminalList: the open terminals that the caller may see. */
import type { GrantScope } from "@matrx/shared/grant.ts";
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import type { TerminalInfo } from "../terminals/protocol.ts";
import type { Terminals } from "../terminals/terminals.ts";
import { counted } from "../text/counted.ts";

export function terminalListTool(terminals: Terminals) {
  return defineTool({
    name: "TerminalList",
    family: "terminals",
    effect: "read",
    confinable: true,
    description: "List the open terminals: the caller's own, and for the owner all of them.",
    details: "One that has ended is listed for another minute, with how it ended.",
    input: z.strictObject({}),
    model: { hidden: true },
    timeoutMs: 30_000,
    async handle(_request, { grant }) {
      const found = (await terminals.list(grant)).map((one) => shown(one, grant));
      const lines = found.map(({ terminal, name, shell, cwd, foreground, running }) =>
        [terminal, name, shell, cwd, running ? foreground : "ended"]
          .filter((part) => part !== undefined)
          // A name, a folder or a command line must not look like another entry.
          .map((part) => part.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " "))
          .join("  "),
      );
      return {
        output: [`${counted(found.length, "terminal")}`, ...lines].join("\n"),
        metadata: { terminals: found },
      };
    },
  });
}

/**
 * `own`: whether it is the caller's own; for the owner, those of other callers are not, whatever names they gave them.
 * `first_sequence` and `next_sequence`: the bytes of output that are kept.
 */
function shown({ id, record, exit, ...info }: TerminalInfo, caller: Pick<GrantScope, "owner">) {
  const { grant, name, shell, started } = record;
  return {
    terminal: id,
    ...(name !== undefined && { name }),
    ...{ grant, own: record.owner === caller.owner, shell, cwd: info.cwd ?? record.cwd, title: info.title },
    ...(info.foreground !== null && info.state !== "prompt" && { foreground: info.foreground }),
    ...{ cols: info.cols, rows: info.rows, first_sequence: info.begin, next_sequence: info.end },
    ...{ started: new Date(started).toISOString(), viewers: info.viewers.length },
    ...(info.recorded && { recorded: true }),
    running: exit === null,
    ...(exit && { exit_code: exit.code, exit_signal: exit.signal }),
  };
}
