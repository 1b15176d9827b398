/** Runs commands in terminals of the page, and says what came of them in the words of these tools. */

import type { Success } from "../../calls/call-tool.ts";
import { ApiError } from "../../relay/api-error.ts";
import { conflict, PageToolError } from "./failure.ts";
import { type Field, text } from "./fields.ts";
import type { Acting } from "./machine.ts";

const LONGEST_COMMAND = 60_000;
/** What still runs then goes on, in milliseconds. */
const WAIT = 30_000;
/** A terminal drops what is typed right after ctrl-c, in milliseconds. */
const SETTLE = 1000;
/** Lines of the screen that show why the shell did not run it. */
const SCREEN_LINES = 6;

const plain = text("Shell command", LONGEST_COMMAND);

/** What the agent would refuse is not asked first. */
export const commandField: Field<string> = {
  ...plain,
  problem(value) {
    const problem = plain.problem(value);
    if (problem !== undefined || typeof value !== "string") return problem;
    if (value.trim() === "") return "can't be blank";
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are keys
    return /[\u0000-\u0008\u000b-\u001f\u007f]/.test(value.replaceAll("\r\n", "\n"))
      ? "can't have control characters: keys can't be pressed"
      : undefined;
  },
};

/** A shell of the page. */
export interface PageShell {
  readonly id: number;
  readonly terminal: string;
  readonly isBash: boolean;
}

export interface Executed {
  readonly output: string;
  /** Null: it is not known. */
  readonly exit_code: number | null;
  readonly running?: true;
}

/** Throws PageToolError, ApiError. */
export async function runCommand(command: string, shell: PageShell, acting: Acting): Promise<Executed> {
  const { id, terminal, isBash } = shell;
  const input = { command, terminal, yield_ms: WAIT };
  const answer = await acting.run("TerminalExecute", input).catch((error: unknown) => {
    throw isNotFree(error) ? notFree(id, error) : error;
  });
  const { unrun, unfinished } = answer.metadata;
  if (unrun === true) throw unrunError(answer);
  if (unfinished === true) {
    // Whatever is typed next would be part of it.
    await acting.run("TerminalInput", { terminal, keys: ["ctrl-c"], wait_ms: SETTLE });
    throw unfinishedError();
  }
  return executed(answer, isBash);
}

/** Bash says so as it leaves; that is not the command's. */
const FAREWELL = /(?:^|(?<=\n))(?:exit|logout)\n$/;

/** Without the agent's own note after it; older agents do not tell where that begins. */
export function executed({ output, metadata }: Success, isOfBash: boolean): Executed {
  const { output_chars: chars, exit_code: exit, running, ended } = metadata;
  const written = typeof chars === "number" ? output.slice(0, chars) : output;
  return {
    output: isOfBash && ended === true ? written.replace(FAREWELL, "") : written,
    exit_code: typeof exit === "number" ? exit : null,
    ...(running === true && { running }),
  };
}

/** Another program has the terminal, or its shell does not tell when it waits. */
function isNotFree(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || error.hop !== "tool") return false;
  return error.code === "CONFLICT" || error.code === "UNAVAILABLE";
}

function notFree(id: number, { message }: ApiError): PageToolError {
  return conflict(
    `Nothing can run in terminal ${id} now: ${message}`,
    "Wait, or use run_in_new_terminal. Only the person can press keys in it; terminal_close ends it",
  );
}

function unrunError({ output, metadata: { output_chars: chars } }: Success): PageToolError {
  const screen = typeof chars === "number" ? output.slice(0, chars) : output;
  const end = screen.split("\n").slice(-SCREEN_LINES).join("\n");
  return new PageToolError(`The shell did not run it. The screen ends with:\n${end}`, {
    code: "TOOL_EXECUTION_FAILED",
    hint: "It has a syntax error, or is only a comment",
  });
}

function unfinishedError(): PageToolError {
  return new PageToolError("The shell waited for the rest of the command, so ctrl-c was pressed", {
    code: "TOOL_EXECUTION_FAILED",
    hint: "Close its quotes, brackets and heredocs; none of it ran",
  });
}
