/** TerminalExecute: runs a command in the shell of a terminal, and returns what it wrote and its exit code. */
import { StringDecoder } from "node:string_decoder";
import { commandSubjects } from "@matrx/shared/commands/command-subjects.ts";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { shellOf } from "../core/gate.ts";
import { defineTool, type ToolContext, type ToolResult } from "../core/tool.ts";
import { reachOf } from "../sandbox/reach.ts";
import { type Execution, execute } from "../terminals/execute.ts";
import { openTerminal, planTerminal, type TerminalParts } from "../terminals/open-terminal.ts";
import { screenText, terminalText } from "../terminals/terminal-text.ts";
import { refusalOfEntry } from "../terminals/terminals.ts";
import { toolName } from "../text/tool-names.ts";

const DEFAULT_YIELD_MS = 30_000;
const MAX_YIELD_MS = 600_000;
/** Lines of the screen that show why a command did not run. */
const SCREEN_LINES = 12;
const NO_SCREEN = { text: "", alternate: false };

const input = z.strictObject({
  command: z.string().min(1).max(60_000).describe("The command"),
  terminal: z.string().min(1).max(64).optional().describe("Default: your newest idle one, or a new one"),
  yield_ms: z
    .int()
    .min(1)
    .max(MAX_YIELD_MS)
    .optional()
    .describe("Return after this many milliseconds even if it still runs (default 30000, at most 600000)"),
});

type Caller = Pick<ToolContext, "session" | "grant" | "rights">;

export function terminalExecuteTool(parts: TerminalParts) {
  const { terminals } = parts;
  const { taken, unfinished } = terminals;

  const idleOne = async ({ session, grant, rights }: Caller) =>
    (await terminals.list(grant)).findLast(
      (one) =>
        one.record.session === session.id &&
        one.record.grant === grant.id &&
        one.exit === null &&
        one.state !== "running" &&
        !taken.has(one.id) &&
        !unfinished.has(one.id) &&
        !refusalOfEntry(one, rights),
    );

  return defineTool({
    name: "TerminalExecute",
    family: "terminals",
    effect: "execute",
    description:
      "Run a command in a shell on a terminal, which keeps variables and environment for the next one: for interactive programs. Returns output and exit code; if it runs longer than 30 seconds, go on with `TerminalInput`.",
    details:
      "It is typed at the prompt, in place of what may stand there. Beginning, end and exit code are told by marks of the shell (bash from 4.4, zsh, fish, PowerShell); a program in it can forge them. A call that is cancelled interrupts the command. When a token has 16 terminals, the oldest idle one that was opened for a command is closed. In the metadata, `output_chars` is how much of `output` the terminal wrote, since a note may follow, `ended` says that the terminal ended with the command, `unrun` that the shell did not run it, and `unfinished` that the shell waits for the rest of it; `output` is then the end of the screen.",
    input,
    model: { prompt: "Run a command in a terminal", needs: "Bash", omit: ["yield_ms"] },
    timeoutMs: MAX_YIELD_MS + 30_000,
    prepare: ({ command }, { rights }) => ({
      subjects: commandSubjects("TerminalExecute", command),
      tools: [{ tool: "Bash", does: "A terminal runs commands" }],
      shell: shellOf(rights),
    }),
    async preview({ command, terminal }, caller) {
      const found = terminal === undefined ? await idleOne(caller) : await terminals.enter(terminal, caller);
      const { cwd } = found ?? (await planTerminal(parts, {}, caller));
      // One that was opened under other limits is not entered.
      const confinement = caller.rights.shell === "sandbox" ? await parts.sandbox.confine(caller) : undefined;
      const sandbox = confinement && reachOf(confinement);
      return {
        summary: `Run in ${found ? `the terminal ${found.id}` : "a new terminal"}: ${command}`,
        command: { text: command, cwd: cwd ?? caller.session.cwd, sandbox },
        bound: { "the terminal": found ? `${found.id} ${found.pid}` : "new" },
      };
    },
    async handle({ command, terminal, yield_ms = DEFAULT_YIELD_MS }, context) {
      const { grant, signal, output } = context;
      const named =
        terminal === undefined ? await idleOne(context) : await terminals.enter(terminal, context);
      if (terminal !== undefined && taken.has(terminal)) throw isTaken(terminal);
      // Another call may have taken the same one meanwhile.
      const isFree = named !== undefined && !taken.has(named.id);
      const id = isFree ? named.id : (await openTerminal(parts, { spare: true }, context)).id;
      taken.add(id);
      unfinished.delete(id);
      const began = performance.now();
      const decoder = new StringDecoder("utf8");
      const live = (offset: number, bytes: Buffer) => output("stdout", offset, decoder.write(bytes));
      try {
        const execution = await execute(terminals, id, command, { grant, yieldMs: yield_ms, signal, live });
        const { exit, outcome } = execution;
        if (outcome === "unfinished") unfinished.add(id);
        const { text, note } = await told(execution, id, grant);
        return {
          output: noted(text, note),
          metadata: {
            terminal: id,
            running: outcome === "running" || outcome === "unfinished",
            ...(outcome === "closed" && { ended: true }),
            ...(outcome === "unrun" && { unrun: true }),
            ...(outcome === "unfinished" && { unfinished: true }),
            exit_code: exit,
            output_chars: text.length,
            duration_ms: Math.round(performance.now() - began),
          },
          ...(exit !== null && { exit }),
        };
      } finally {
        taken.delete(id);
      }
    },
  });

  async function told(execution: Execution, id: string, grant: ToolContext["grant"]): Promise<Told> {
    const { outcome, exit } = execution;
    const keys = toolName("TerminalInput");
    const { text: screen, alternate } =
      outcome === "ended" || outcome === "closed" ? NO_SCREEN : await terminals.screen(id, grant);
    const end = screenText(screen).split("\n").slice(-SCREEN_LINES).join("\n");
    switch (outcome) {
      case "ended":
        return {
          text: terminalText(execution.output),
          note: exit === 0 ? undefined : `Exit code ${exit ?? "unknown"}`,
        };
      case "closed":
        return { text: terminalText(execution.output), note: `${id} ended with it` };
      case "running":
        return {
          text: alternate ? screenText(screen) : terminalText(execution.output),
          note: `It still runs in ${id}: go on with ${keys}`,
        };
      case "unrun":
        return { text: end, note: "The shell did not run it" };
      case "unfinished":
        return {
          text: end,
          note: `The shell waits for the rest of it: type that with ${keys}, or press ctrl-c`,
        };
    }
  }
}

interface Told {
  /** What the terminal shows of it. */
  readonly text: string;
  readonly note: string | undefined;
}

function noted(text: string, note: string | undefined): ToolResult["output"] {
  if (note === undefined) return text;
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}[${note}]`;
}

function isTaken(id: string): MatrxError {
  return toolError("CONFLICT", `Another call runs a command in ${id}`, {
    hint: "Wait for it, or leave out terminal to get another",
    details: { reason: "BUSY" },
  });
}
