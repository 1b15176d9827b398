/** TerminalCreate: opens a shell on a pseudo terminal, which outlives this program. */
import * as z from "zod";
import { shellOf } from "../core/gate.ts";
import { defineTool } from "../core/tool.ts";
import { openTerminal, planTerminal, type TerminalParts } from "../terminals/open-terminal.ts";
import { TERMINAL_LIMITS } from "../terminals/protocol.ts";

const cells = z.int().min(1).max(TERMINAL_LIMITS.mostCells).optional();

const input = z.strictObject({
  name: z.string().min(1).max(100).optional().describe("A name for people"),
  cwd: z.string().min(1).optional().describe("Folder to begin in (default: the session's)"),
  shell: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe("Name or absolute path of a shell (default: the user's own, in the sandbox bash)"),
  cols: cells.describe("Columns, 1 to 1000 (default 80)"),
  rows: cells.describe("Rows, 1 to 1000 (default 24)"),
});

export function terminalCreateTool(parts: TerminalParts) {
  return defineTool({
    name: "TerminalCreate",
    family: "terminals",
    effect: "execute",
    description:
      "Open a shell on a terminal of its own. It goes on when nobody watches it and when the agent restarts, until `TerminalClose`, or until the token ends. Run commands in it with `TerminalExecute`, press keys with `TerminalInput`.",
    details:
      "Models get one from `TerminalExecute`. It runs in the sandbox if the caller's commands do; their domains can then be reached only until the agent restarts. It needs the permission of `Bash` too. A rule that asks about `Bash` asks about opening one, whatever it matches. At most 16 of one token may be open.",
    input,
    model: { hidden: true },
    timeoutMs: 30_000,
    prepare: (_request, { rights }) => ({
      tools: [{ tool: "Bash", does: "A terminal runs commands" }],
      shell: shellOf(rights),
    }),
    async preview(request, { session, grant, rights }) {
      const { file, cwd, confinement } = await planTerminal(parts, request, { session, grant, rights });
      const where = confinement ? " in the sandbox" : "";
      return {
        summary: `Open a terminal with ${file} in ${cwd}${where}`,
        bound: { "how it is confined": shellOf(rights) },
      };
    },
    async handle(request, context) {
      context.approved?.checkCwd(context.session.cwd);
      context.signal.throwIfAborted();
      const { id: terminal, ...opened } = await openTerminal(parts, request, context);
      return {
        output: `Opened ${terminal} with ${opened.shell} in ${opened.cwd}`,
        metadata: { terminal, ...opened },
      };
    },
  });
}
