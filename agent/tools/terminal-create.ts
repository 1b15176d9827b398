/** TerminalCreate: opens a shell on a pseudo terminal, which outlives this program. */
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { absolutePath } from "../fs/path-syntax.ts";
import type { Platform } from "../platform/platform.ts";
import { TERMINAL_LIMITS } from "../terminals/protocol.ts";
import { findShell } from "../terminals/shell.ts";
import type { Terminals } from "../terminals/terminals.ts";

const cells = z.int().min(1).max(TERMINAL_LIMITS.mostCells).optional();

const input = z.strictObject({
  name: z.string().min(1).max(100).optional().describe("A name for people"),
  cwd: z.string().min(1).optional().describe("Folder to begin in (default: the session's)"),
  shell: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe("Absolute path, or the name of a program on the PATH (default: the user's own shell)"),
  cols: cells.describe("Columns, 1 to 1000 (default 80)"),
  rows: cells.describe("Rows, 1 to 1000 (default 24)"),
});

type Input = z.infer<typeof input>;

export function terminalCreateTool(terminals: Terminals, platform: Platform) {
  const programOf = ({ shell, cwd }: Input, session: { readonly cwd: string }) => ({
    file: findShell(shell, terminals.environment, platform),
    cwd: cwd === undefined ? session.cwd : absolutePath(cwd, session.cwd, platform),
  });
  return defineTool({
    name: "TerminalCreate",
    description:
      "Open a shell on a terminal of its own. It goes on when nobody watches it and when the agent restarts, until `TerminalClose`, or until the token ends.",
    details:
      "Only for callers whose commands run outside the sandbox; it needs the permission of `Bash` too. A rule that asks about `Bash` asks about opening one, whatever it matches, and about nothing that is typed. At most 16 of one token may be open.",
    input,
    model: { hidden: true },
    timeoutMs: 30_000,
    prepare: () => ({ tools: [{ tool: "Bash", does: "A terminal runs commands" }], shell: "free" }),
    async preview(request, { session }) {
      const { file, cwd } = programOf(request, session);
      return { summary: `Open a terminal with ${file} in ${cwd}` };
    },
    async handle(request, { session, grant, approved, signal }) {
      approved?.checkCwd(session.cwd);
      const { name, cols = 80, rows = 24 } = request;
      const program = programOf(request, session);
      signal.throwIfAborted();
      const wanted = { grant, session: session.id, name, ...program, args: [], cols, rows };
      const terminal = await terminals.create(wanted);
      return {
        output: `Opened ${terminal} with ${program.file} in ${program.cwd}`,
        metadata: { terminal, shell: program.file, cwd: program.cwd, cols, rows },
      };
    },
  });
}
