/** What a person sees before deciding on a call: exactly what would run, with every hidden character made visible. */
import * as z from "zod";
import { effectSchema } from "./effects.ts";

/** Longer texts are cut, in characters. */
export const QUESTION_CHARS = { summary: 300, text: 64 * 1024, field: 4096 } as const;
const ITEMS_MAX = 256;

/**
 * Controls but for line feed and tab, marks that change the text's direction, invisible characters, odd spaces and signs that
 * look like one, and the marks above a letter that already has as many as any language puts there.
 */
const HIDDEN =
  /(?![\n\t ])[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1D159}]|\p{Surrogate}|\p{Private_Use}|(?<=\p{M}{6})\p{M}/gu;

/** The text with each hidden character written out, such as `\u{202E}`. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`);
}

/** The same on one line, cut to at most `maxChars`. */
export function visibleLine(text: string, maxChars: number): string {
  const line = visibleText(text.replace(/[\n\t]/g, (char) => (char === "\n" ? "\\n" : "\\t")));
  return line.length > maxChars ? `${line.slice(0, maxChars - 1)}…` : line;
}

const line = (maxChars: number) => z.string().overwrite((text) => visibleLine(text, maxChars));
const field = line(QUESTION_CHARS.field);
const text = z.string().max(QUESTION_CHARS.text).overwrite(visibleText);
const fields = z.array(field).max(ITEMS_MAX);

/** Made by the agent; for a device that cannot, the relay makes one from the input alone. */
export const questionSchema = z.object({
  summary: line(QUESTION_CHARS.summary).describe("One line, such as `Write /home/ann/notes.txt`"),
  tool: line(128),
  effect: effectSchema,
  also: z
    .array(line(128))
    .max(16)
    .optional()
    .describe("Tools whose work it also does, such as `Delete` for a patch that deletes a file"),
  paths: z
    .array(z.object({ path: field, intent: line(64).describe("What is done to it, such as `read`") }))
    .max(ITEMS_MAX)
    .optional()
    .describe("Resolved paths"),
  command: z
    .object({
      text,
      cwd: field,
      sandbox: z.boolean(),
      readable: fields.optional().describe("Folders that the sandbox lets it read"),
      writable: fields.optional().describe("Folders that the sandbox lets it change"),
      network: fields.optional().describe("Domains that it may reach; absent: none in a sandbox"),
    })
    .optional(),
  diff: text.optional().describe("What it changes in files, as a unified diff"),
  diff_cut: z.boolean().optional().describe("The diff is longer than what is shown"),
  url: field.optional(),
  app: field.optional(),
  input: text.describe("The whole input as canonical JSON (RFC 8785)"),
  input_cut: z.boolean().optional().describe("The input is longer than what is shown"),
  warnings: fields.describe("What a person should know before deciding"),
});
export type Question = z.infer<typeof questionSchema>;
