/** Reads a tool's input from the command line: JSON, or `key=value` with types from the tool's schema. */
import { text } from "node:stream/consumers";
import { MatrxError } from "@matrx/shared/errors.ts";
import { parseJsonObject } from "@matrx/shared/json-input.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import * as z from "zod";
import { usageError } from "../output/failure.ts";

type Input = Record<string, unknown>;
/** Gets the JSON Schema of the tool's input from the device; undefined if there is none. */
type AskSchema = () => Promise<unknown>;

/** Gets the schema only for `key=value`. Throws MatrxError. */
export async function readInput(
  words: readonly string[],
  stdin: boolean,
  askSchema: AskSchema,
): Promise<Input> {
  const piped = stdin ? readObject(await text(process.stdin), "stdin") : {};
  const [first] = words;
  if (words.length === 1 && first?.trimStart().startsWith("{"))
    return { ...piped, ...readObject(first, "The input") };
  if (words.length === 0) return piped;
  const pairs = words.map(splitPair);
  const types = typesOf(await askSchema());
  return {
    ...piped,
    ...Object.fromEntries(pairs.map(([key, value]) => [key, typed(key, value, types.get(key))])),
  };
}

function readObject(json: string, where: string): Input {
  try {
    return parseJsonObject(json, LIMITS.callFrameBytes);
  } catch (error) {
    if (!(error instanceof MatrxError)) throw error;
    throw usageError(
      error.message.replace(/^The message/, where),
      'Give one JSON object, such as {"command":"ls"}, or key=value',
    );
  }
}

function splitPair(word: string): [string, string] {
  const at = word.indexOf("=");
  if (at > 0) return [word.slice(0, at), word.slice(at + 1)];
  throw usageError(
    `"${word}" is neither JSON nor key=value`,
    "Write key=value, or the whole input as one JSON object",
  );
}

const schemaSchema = z.object({
  properties: z.record(
    z.string(),
    z.looseObject({ type: z.union([z.string(), z.array(z.string())]).optional() }),
  ),
});

function typesOf(schema: unknown): Map<string, string | undefined> {
  const parsed = schemaSchema.safeParse(schema);
  if (!parsed.success) return new Map();
  return new Map(
    Object.entries(parsed.data.properties).map(([key, { type }]) => [
      key,
      Array.isArray(type) ? type[0] : type,
    ]),
  );
}

function typed(key: string, value: string, type: string | undefined): unknown {
  if (type === undefined || type === "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    throw usageError(
      `${key}: expected ${type}, got "${value}"`,
      `Write it as JSON, such as ${EXAMPLES[type] ?? "1"}`,
    );
  }
}

const EXAMPLES: Record<string, string> = {
  boolean: `true`,
  array: `'["a","b"]'`,
  object: `'{"a":1}'`,
};
