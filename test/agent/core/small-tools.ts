/** Tools for tests of what runs tools: real tools, only small. Their names carry pinned effects. */
import { MatrxError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import pino from "pino";
import * as z from "zod";
import { Sessions } from "../../../agent/core/sessions.ts";
import { defineTool, type Tool } from "../../../agent/core/tool.ts";
import { Pictures } from "../../../agent/pictures/pictures.ts";
import type { Toolbox } from "../../../agent/toolbox.ts";
import { closedPaths } from "../../helpers/protected-paths.ts";

export const OWNER: GrantScope = {
  id: "grant_owner" as GrantId,
  owner: true,
  effects: ["read", "write", "execute"],
};
export const READER: GrantScope = { id: "grant_reader" as GrantId, owner: false, effects: ["read"] };

export const silentLog = pino({ level: "silent" });

/** How often each tool ran. */
export type Runs = Map<string, number>;

/** By the global clock, which a test may have replaced. */
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(resolve, ms);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
  });
}

export function smallTools(): { tools: Tool[]; runs: Runs } {
  const runs: Runs = new Map();
  const count = (name: string) => runs.set(name, (runs.get(name) ?? 0) + 1);
  const tools = [
    defineTool({
      name: "Read",
      description: "Gives back the path.",
      input: z.strictObject({ file_path: z.string(), limit: z.int().optional() }),
      timeoutMs: 1000,
      handle: async ({ file_path }, { session }) => {
        count("Read");
        return { output: `read ${file_path}`, metadata: { cwd: session.cwd } };
      },
    }),
    defineTool({
      name: "Write",
      description: "Counts.",
      input: z.strictObject({ file_path: z.string(), content: z.string() }),
      timeoutMs: 1000,
      handle: async ({ content }) => {
        count("Write");
        return { output: `wrote ${content}` };
      },
    }),
    defineTool({
      name: "Bash",
      description: "Waits, talks, fails: as the command says.",
      input: z.strictObject({ command: z.string(), ms: z.int().default(0) }),
      timeoutMs: 5000,
      handle: async ({ command, ms }, { signal, output, progress, room }) => {
        count("Bash");
        if (command === "full") throw noRoom();
        if (command === "break") throw new Error("a secret of the inside");
        if (command === "refuse") throw refusal();
        if (command === "image") {
          return { output: "", image: { media_type: "image/png", base64_data: "AAAA" } };
        }
        if (command.startsWith("say ")) {
          const text = command.slice(4);
          output("stdout", 0, text);
          return { output: text, exit: 3 };
        }
        if (command === "progress") {
          progress({ progress: 1, total: 2 });
          return { output: "", content: [{ type: "text", text: "half" }], structured: 7 };
        }
        if (command.startsWith("roomy ")) {
          const bytes = Number(command.slice(6));
          await room(bytes);
          return { output: "x".repeat(bytes) };
        }
        if (command.startsWith("cautious ")) {
          await room(Number(command.slice(9)));
          return { output: "small" };
        }
        if (command.startsWith("big ")) return { output: "x".repeat(Number(command.slice(4))) };
        await sleep(ms, command === "deaf" ? undefined : signal);
        return { output: `slept ${ms}` };
      },
    }),
    defineTool({
      name: "Grep",
      description: "Waits until it is stopped.",
      input: z.strictObject({}),
      timeoutMs: 5000,
      handle: async (_, { signal }) => {
        count("Grep");
        await sleep(5000, signal);
        return { output: "done" };
      },
    }),
  ];
  return { tools, runs };
}

export function smallToolbox(): Toolbox & { runs: Runs } {
  const sessions = new Sessions();
  return {
    ...smallTools(),
    sessions,
    checkPaths: async () => undefined,
    lookAtPaths: async () => [],
    lookInside: async () => [],
    protectedPaths: closedPaths(),
    pictures: new Pictures(),
    confineServer: () => Promise.reject(new Error("there is no sandbox in this test")),
    endSessions: (grant) => sessions.endGrant(grant),
    endCommands: () => undefined,
    stopJobs: async () => [],
    close: () => {},
  };
}

function noRoom(): MatrxError {
  return new MatrxError({ code: "RATE_LIMITED", message: "Too many run already", hop: "tool" });
}

function refusal(): MatrxError {
  return new MatrxError({
    code: "TOOL_EXECUTION_FAILED",
    message: "It could not be done",
    hint: "Do something else",
    hop: "tool",
    details: { path: "/x" },
  });
}
