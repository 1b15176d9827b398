/** TerminalInput: types into a terminal, and shows its screen then. */
import { setTimeout as sleep } from "node:timers/promises";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { shellOf } from "../core/gate.ts";
import { defineTool } from "../core/tool.ts";
import { hasEnded } from "../terminals/execute.ts";
import { keyNamed } from "../terminals/keys.ts";
import type { TerminalInfo } from "../terminals/protocol.ts";
import { screenText } from "../terminals/terminal-text.ts";
import type { Terminals } from "../terminals/terminals.ts";

const DEFAULT_WAIT_MS = 2000;
const MAX_WAIT_MS = 60_000;
/** The screen is shown when the terminal wrote nothing for so long, in milliseconds. */
const QUIET_MS = 250;

const input = z.strictObject({
  terminal: z.string().min(1).max(64).describe("As `TerminalExecute` named it"),
  text: z.string().max(32_000).optional().describe("Text to type; \\n is enter"),
  keys: z
    .array(z.string().max(16))
    .max(100)
    .optional()
    .describe("Keys to press then, such as enter, tab, escape, up, page-down, f1, ctrl-c, alt-x"),
  wait_ms: z
    .int()
    .min(0)
    .max(MAX_WAIT_MS)
    .optional()
    .describe("Milliseconds to wait at most until it is quiet (default 2000, at most 60000)"),
});

export function terminalInputTool(terminals: Terminals) {
  return defineTool({
    name: "TerminalInput",
    family: "terminals",
    effect: "execute",
    description: "Type into a terminal, and return its screen. Without text and keys it only looks.",
    details:
      "Whoever else watches the terminal sees it too. A rule that asks about `Bash` asks about each call.",
    input,
    model: { prompt: "Type there and see its screen", needs: "TerminalExecute" },
    timeoutMs: MAX_WAIT_MS + 30_000,
    prepare: (_request, { rights }) => ({
      tools: [{ tool: "Bash", does: "A terminal runs commands" }],
      shell: shellOf(rights),
    }),
    async preview({ terminal, text, keys = [] }, caller) {
      const entry = await terminals.enter(terminal, caller);
      const { id, pid } = entry;
      const typed = [...(text === undefined ? [] : [JSON.stringify(text)]), ...keys];
      const what = typed.length > 0 ? `Type into the terminal ${id}` : `Look at the terminal ${id}`;
      const into = `${what}, ${runningIn(entry)}`;
      return {
        summary: typed.length > 0 ? `${into}: ${typed.join(" ")}` : into,
        bound: { "the terminal": `${id} ${pid}` },
      };
    },
    async handle({ terminal, text = "", keys = [], wait_ms = DEFAULT_WAIT_MS }, { grant, rights, signal }) {
      const { id, exit: ended } = await terminals.enter(terminal, { grant, rights });
      if (ended && (text !== "" || keys.length > 0)) throw hasEnded(id);
      const before = await terminals.screen(id, grant);
      const typed = [
        text.replace(/\r?\n/g, "\r"),
        ...keys.map((key) => keyNamed(key, before.applicationKeys) ?? noKey(key)),
      ].join("");
      const attachment = await terminals.attach({ id, from: "now", write: true }, grant);
      try {
        signal.throwIfAborted();
        if (typed !== "") {
          await attachment.write(Buffer.from(typed));
          terminals.unfinished.delete(id);
        }
        await quiet(attachment.flow(), wait_ms, signal);
      } finally {
        attachment.close();
      }
      const screen = await terminals.screen(id, grant);
      const { exit, state, foreground, cols, rows } = await terminals.find(id, grant);
      const { column, row } = screen.cursor;
      return {
        output: screenText(screen.text),
        metadata: {
          ...{ terminal: id, running: exit === null, title: screen.title, cols, rows },
          ...{ cursor: { column, row }, alternate_screen: screen.alternate, prompt: state === "prompt" },
          ...(foreground !== null && state !== "prompt" && { foreground }),
          ...(exit && { exit_code: exit.code }),
        },
      };
    },
  });
}

/** At its prompt a shell is named by its program: how it was started is our own, and tells a person nothing. */
function runningIn({ state, foreground, record }: TerminalInfo): string {
  if (state === "prompt") return `at the prompt of ${record.shell}`;
  const isOwnStart = foreground === null || (state === "unknown" && foreground.startsWith(record.shell));
  return isOwnStart ? `opened with ${record.shell}` : `where this runs: ${foreground}`;
}

/** Resolves when nothing comes for a while, when the terminal has ended, or when it was waited for long enough. */
async function quiet(flow: AsyncIterator<unknown>, waitMs: number, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const stop = () => over.abort();
  signal.addEventListener("abort", stop, { once: true });
  const late = sleep(waitMs, "late", { signal: over.signal }).catch(() => "late");
  try {
    for (let next = flow.next(); ; next = flow.next()) {
      const calm = new AbortController();
      const silence = sleep(QUIET_MS, "quiet", { signal: calm.signal }).catch(() => "quiet");
      const first = await Promise.race([next, silence, late]);
      calm.abort();
      if (first === "quiet" || first === "late") return void next.catch(() => undefined);
      if (typeof first === "object" && first.done) return;
    }
  } finally {
    over.abort();
    signal.removeEventListener("abort", stop);
  }
}

function noKey(name: string): never {
  throw unknownKey(name);
}

function unknownKey(name: string): MatrxError {
  return toolError("INVALID_PARAMETERS", `keys: there is no key ${JSON.stringify(name.slice(0, 32))}`, {
    hint: "Names are such as enter, tab, escape, up, page-down, f5, ctrl-c, alt-x; letters are typed as text",
    details: { field: "keys" },
  });
}
