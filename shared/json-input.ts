/** JSON from outside: parsed within limits, and checked against a schema. */
import type * as z from "zod";
import { type Hop, MatrxError } from "./errors.ts";
import { LIMITS } from "./limits.ts";
import { zodMessages } from "./zod-messages.ts";

/** Parses the text of one JSON object under a size and depth limit. Throws MatrxError. */
export function parseJsonObject(
  text: string,
  maxBytes: number,
  hint = "Send one JSON object",
  hop: Hop = "relay",
): Record<string, unknown> {
  if (isLongerThan(text, maxBytes)) {
    throw new MatrxError({
      code: "PAYLOAD_TOO_LARGE",
      message: `The message is larger than ${maxBytes} bytes`,
      hint: "Send large content in parts",
      hop,
      details: { limit_bytes: maxBytes },
    });
  }
  // Before parsing: four MiB of brackets take JSON.parse half a second and 200 MB.
  if (isDeeper(text, LIMITS.depth)) {
    throw unreadable(`The message nests deeper than ${LIMITS.depth} levels`, hint, hop);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw unreadable("The message is not JSON", hint, hop, cause);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw unreadable("The message is not a JSON object", hint, hop);
  }
  return value as Record<string, unknown>;
}

/** Checks a value against a schema; the error names the first wrong field. Throws MatrxError `INVALID_PARAMETERS`. */
export function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  hop: Hop = "relay",
): z.infer<Schema> {
  const result = safeParse(schema, value, hop);
  if (result.success) return result.data;
  throw invalidParametersError(result.error, idOf(value), hop);
}

/** zod passes on faults as arguments of one call: hundreds of thousands overflow the stack. */
function safeParse<Schema extends z.ZodType>(schema: Schema, value: unknown, hop: Hop) {
  try {
    return schema.safeParse(value, { error: zodMessages });
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const hint = "Correct the list with the most entries and send it again";
    const message = "The input has too many faults to name one";
    throw new MatrxError({ code: "INVALID_PARAMETERS", message, hint, hop }, cause);
  }
}

/** `INVALID_PARAMETERS` naming the field that a schema refused. */
export function invalidParametersError(error: z.ZodError, id?: string, hop: Hop = "relay"): MatrxError {
  const issue = error.issues[0];
  const unknown = issue?.code === "unrecognized_keys" ? [...issue.path, issue.keys[0]].join(".") : undefined;
  const field = unknown ?? issue?.path.join(".");
  return new MatrxError({
    code: "INVALID_PARAMETERS",
    message: unknown ? `Unknown parameter: ${unknown}` : [field, issue?.message].filter(Boolean).join(": "),
    hint: "Correct the field and send it again",
    hop,
    details: { ...(field && { field }), ...(id && { id }) },
  });
}

function idOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !("id" in value)) return undefined;
  const { id } = value;
  return typeof id === "string" && id.length <= LIMITS.callerIdChars ? id : undefined;
}

function unreadable(message: string, hint: string, hop: Hop, cause?: unknown): MatrxError {
  return new MatrxError({ code: "INVALID_MESSAGE", message, hint, hop }, cause);
}

/** Bytes of UTF-8 are at least the UTF-16 length and at most three times it: the exact count is rarely needed. */
export function isLongerThan(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  if (text.length * 3 <= maxBytes) return false;
  return new TextEncoder().encode(text).length > maxBytes;
}

const QUOTE = 34;
const BACKSLASH = 92;

/** Whether a value that was parsed elsewhere nests deeper; looked at level by level, because recursion would overflow the stack. */
export function nestsDeeper(value: unknown, limit: number): boolean {
  const isNested = (one: unknown): one is object => typeof one === "object" && one !== null;
  let level = [value].filter(isNested);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === limit) return true;
    level = level.flatMap((one) => Object.values(one).filter(isNested));
  }
  return false;
}

/** Whether JSON nests deeper than `limit`; for other texts the result means nothing. Texts too short for that are not scanned. */
export function isDeeper(text: string, limit: number): boolean {
  if (text.length <= 2 * limit) return false;
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const char = text.charCodeAt(index);
    if (char === QUOTE) index = endOfString(text, index);
    else if (char === 123 || char === 91) {
      depth++;
      if (depth > limit) return true;
    } else if (char === 125 || char === 93) depth--;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
}
