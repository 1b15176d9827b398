/** The tool that puts a text on the clipboard. */
import { toolError } from "@matrx/shared/errors.ts";
import { previewOf } from "@matrx/shared/redact.ts";
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { CLIPBOARD_MAX_BYTES, writeClipboard } from "../desktop/clipboard.ts";
import type { Desktop } from "../desktop/desktop.ts";
import { wrongParameterError } from "../desktop/errors.ts";
import type { Files } from "../fs/access.ts";
import { counted } from "../text/counted.ts";

const SHOWN_CHARS = 200;

const input = z.strictObject({
  text: z
    .string()
    .min(1)
    .regex(/^[^\0]*$/, "must not contain a NUL character")
    .describe("At most 1 MiB in UTF-8"),
});

export function clipboardWriteTool(files: Files, desktop: Desktop) {
  return defineTool({
    name: "ClipboardWrite",
    family: "desktop",
    effect: "execute",
    description:
      "Put a text on the clipboard of the device's desktop, in place of what is there. For programs.",
    details:
      "It stays until something else is copied; on Linux also no longer than the agent runs, unless a clipboard manager keeps it.",
    input,
    unavailable: () => desktop.lackOfClipboard(),
    model: { hidden: true },
    timeoutMs: 30_000,
    async preview({ text }) {
      const size = counted(sizeOf(text), "byte");
      const rest = text.length > SHOWN_CHARS ? " …" : "";
      return {
        summary: `Put ${size} of text on the clipboard: ${JSON.stringify(previewOf(text, SHOWN_CHARS))}${rest}`,
        warnings: ["It replaces what somebody at the machine has copied"],
      };
    },
    async handle({ text }, context) {
      const bytes = sizeOf(text);
      const surroundings = await desktop.surroundingsOf(files, context).forHelpers();
      const by = await writeClipboard(desktop, text, surroundings, context.signal);
      return {
        output: `${counted(bytes, "byte")} of text are on the clipboard now`,
        metadata: { bytes, written_by: by },
      };
    },
  });
}

/** In bytes of UTF-8. Throws MatrxError if it is no text for a clipboard. */
function sizeOf(text: string): number {
  if (!text.isWellFormed())
    throw wrongParameterError(
      "text",
      "text: contains half a character, which UTF-8 can't encode",
      "Send whole characters: surrogates come in pairs",
    );
  const bytes = Buffer.byteLength(text);
  if (bytes > CLIPBOARD_MAX_BYTES)
    throw toolError(
      "PAYLOAD_TOO_LARGE",
      `The text has ${bytes} bytes; at most ${CLIPBOARD_MAX_BYTES} can be put there`,
      {
        hint: "Write it into a file instead",
        details: { field: "text", size: bytes, limit_bytes: CLIPBOARD_MAX_BYTES },
      },
    );
  return bytes;
}
