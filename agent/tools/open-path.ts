/** The tool that opens a file or folder with its default application. */
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import type { Desktop } from "../desktop/desktop.ts";
import { checkIsDocument } from "../desktop/documents.ts";
import type { Files } from "../fs/access.ts";

const input = z.strictObject({
  path: z.string().min(1).describe("Absolute or relative path"),
});

export function openPathTool(files: Files, desktop: Desktop) {
  return defineTool({
    name: "OpenPath",
    family: "desktop",
    effect: "execute",
    confinable: true,
    description: "Open a file or folder in its usual program on the user's screen.",
    details:
      "Callers who may not run programs can open only folders and plain documents, and nothing if they may write where the user's programs are chosen. Returns the program used; see with `Screenshot` whether a window opened.",
    input,
    unavailable: () => desktop.lackOfOpener(),
    model: { prompt: "Open file/folder in OS file manager" },
    timeoutMs: 20_000,
    prepare: ({ path }) => ({ paths: [{ path, intent: "read" }] }),
    async preview({ path }, context) {
      const place = await (await files.as(context)).findToHandOver(path);
      await desktop.surroundingsOf(files, context).forOpeners();
      return { summary: `Open ${place.shown} in its usual program` };
    },
    async handle({ path }, context) {
      const access = await files.as(context);
      const place = await access.findToHandOver(path);
      context.approved?.checkPath(place.path, place.shown);
      if (!context.rights.mayRunAnyProgram) await checkIsDocument(access, place);
      const surroundings = await desktop.surroundingsOf(files, context).forOpeners();
      context.signal.throwIfAborted();
      const { program, pid } = await desktop.open(place.path, surroundings);
      return {
        output: `${place.path} was passed to ${program}; whether a window opened is not known`,
        metadata: { path: place.path, handed_to: program, pid },
      };
    },
  });
}
