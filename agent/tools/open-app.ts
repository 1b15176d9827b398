/** The tool that starts an application. */
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { allowedStart, neededToStart } from "../desktop/apps.ts";
import type { Desktop } from "../desktop/desktop.ts";
import type { Files } from "../fs/access.ts";

const ARGUMENT_CHARS = 4096;

const word = z
  .string()
  .max(ARGUMENT_CHARS)
  .regex(/^[^\0]*$/, "must not contain a NUL character");

const input = z.strictObject({
  app: word.min(1).describe("Its name, desktop entry id (Linux) or absolute path"),
  args: z.array(word).max(64).optional().describe("Such as a web address or a document's path"),
});

export function openAppTool(files: Files, desktop: Desktop) {
  return defineTool({
    name: "open_app",
    family: "desktop",
    effect: "execute",
    description: "Start an application on the user's screen.",
    details:
      "It runs independently of the agent. A policy can list the allowed applications; callers who may not run programs can start only those, with web addresses and documents as arguments, and none if they may write where programs are chosen.",
    input,
    unavailable: () => desktop.lackOfDisplay(),
    model: { prompt: "Open an application" },
    timeoutMs: 20_000,
    prepare: ({ app, args = [] }, { rights }) => neededToStart(files.platform, { app, args }, rights),
    async preview({ app, args = [] }, context) {
      const start = await allowedStart(files, context, { app, args });
      await desktop.surroundingsOf(files, context).forOpeners();
      const line = [app, ...start.args.map((arg) => JSON.stringify(arg))].join(" ");
      const urls = start.args.filter((arg) => /^https?:/i.test(arg));
      return { summary: `Start ${line}`, app: line, ...(urls.length > 0 && { url: urls.join(" ") }) };
    },
    async handle({ app, args = [] }, context) {
      const start = await allowedStart(files, context, { app, args });
      const { env } = await desktop.surroundingsOf(files, context).forOpeners();
      context.signal.throwIfAborted();
      const { program, pid, ended, handedOver } = await desktop.startApp(start.app, start.args, {
        env,
        cwd: start.cwd,
      });
      const how = handedOver
        ? `${app} was passed to ${program}; whether a window opened is not known`
        : ended
          ? `${app} was started (process ${pid}) and has already ended without an error: it may have passed the request to a running instance`
          : `${app} was started (process ${pid})`;
      return {
        output: how,
        metadata: { app, args: start.args, program, pid, running: !ended && !handedOver },
      };
    },
  });
}
