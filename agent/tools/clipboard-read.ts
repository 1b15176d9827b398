/** The tool that reads the clipboard. Its text is in the metadata alone: beginnings of outputs go into activity. */
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { CLIPBOARD_MAX_BYTES, readClipboard } from "../desktop/clipboard.ts";
import type { Desktop } from "../desktop/desktop.ts";
import type { Files } from "../fs/access.ts";
import { counted } from "../text/counted.ts";

const input = z.strictObject({});

const output = z.object({
  text: z.string().describe("Empty if there is none"),
  bytes: z.int().describe("Of the text, in UTF-8"),
  cut: z.boolean().describe("Whether the clipboard holds more"),
  read_by: z.string().describe("The program that read it"),
});

export function clipboardReadTool(files: Files, desktop: Desktop) {
  return defineTool({
    name: "ClipboardRead",
    family: "desktop",
    effect: "execute",
    description: "Read the text on the clipboard of the device's desktop. For programs.",
    details:
      "The text, at most its first 1 MiB, is in the metadata; the output, whose beginning goes into the activity, only tells how long it is. As of every call with an effect, the relay keeps the result for 24 hours. Pictures and files on the clipboard are not read.",
    input,
    output,
    unavailable: () => desktop.lackOfClipboard(),
    model: { hidden: true },
    timeoutMs: 30_000,
    async preview() {
      return {
        summary: "Read the text on the clipboard",
        warnings: ["A clipboard often holds a password that somebody has just copied"],
      };
    },
    async handle(_request, context) {
      await context.room(CLIPBOARD_MAX_BYTES);
      const surroundings = await desktop.surroundingsOf(files, context).forHelpers();
      const { text, isCut, by } = await readClipboard(desktop, surroundings, context.signal);
      const bytes = Buffer.byteLength(text);
      return {
        output: inWords(bytes, isCut),
        metadata: { text, bytes, cut: isCut, read_by: by } satisfies z.infer<typeof output>,
      };
    },
  });
}

function inWords(bytes: number, isCut: boolean): string {
  if (bytes === 0) return "The clipboard holds no text";
  const size = counted(bytes, "byte");
  if (isCut)
    return `The clipboard holds more text than can be returned: its first ${size} are in the metadata`;
  return `The clipboard holds ${size} of text, which are in the metadata`;
}
