/**
 * The answer of a call as pages can show it. The relay and the local server pass on what a machine wrote, which may be of other
 * shapes than the protocol has.
 */
import type { problemSchema } from "@matrx/shared/api.ts";
import type { Answer, ToCaller } from "@matrx/shared/caller/to-caller.ts";
import type * as z from "zod";
import { fits, isRecord } from "./shapes.ts";

type Part = NonNullable<Answer["content"]>[number];
type Checks = { readonly [T in Part["type"]]: (part: Readonly<Record<string, unknown>>) => boolean };

/** Undefined: it is none. Of one that is, what has not its shape is left out, and a part becomes one that can't be shown. */
export function answerIn(value: unknown): Answer | undefined {
  if (!fits("POST /v1/devices/{device}/tools/{tool}", value)) return undefined;
  const { image, content, metadata, hint, ...rest }: Answer = value;
  return {
    ...rest,
    ...(hasTexts(image, "media_type", "base64_data") && { image }),
    ...(Array.isArray(content) && { content: content.map(partOf) }),
    ...(isRecord(metadata) && { metadata }),
    ...(typeof hint === "string" && { hint }),
  };
}

/** A type that nobody knows can't be shown, whatever else it has. */
function partOf(part: unknown): Part {
  if (!isRecord(part)) return NO_PART;
  const check = Object.entries(CHECKS).find(([type]) => type === part.type)?.[1];
  return check === undefined || check(part) ? (part as Part) : NO_PART;
}

const NO_PART = { type: "unreadable" } as unknown as Part;

const CHECKS: Checks = {
  text: (part) => hasTexts(part, "text"),
  image: (part) => hasTexts(part, "data", "mimeType"),
  audio: (part) => hasTexts(part, "data", "mimeType"),
  resource: ({ resource }) => hasTexts(resource, "uri", "text") || hasTexts(resource, "uri", "blob"),
  resource_link: (part) => hasTexts(part, "uri", "name"),
};

function hasTexts(value: unknown, ...names: string[]): boolean {
  return isRecord(value) && names.every((name) => typeof value[name] === "string");
}

export type CallProblem = Pick<z.infer<typeof problemSchema>, "title" | "detail" | "code" | "hint" | "hop">;

/** The call ended, whatever came of its answer on the way. */
export const UNREADABLE = {
  title: "Unreadable answer",
  detail: "The call ended, and its answer can't be read here.",
  code: "INVALID_ANSWER",
  hint: "Check what it changed before you run it again. If it keeps happening, update the relay.",
  hop: "relay",
} as const;

/** A problem in place of an answer. */
export function answerOf({ title, detail, code, hint, hop }: CallProblem): Answer {
  return {
    type: "error",
    output: detail ?? title,
    code,
    ...(hint !== undefined && { hint }),
    ...(hop !== undefined && { hop: hop as NonNullable<Answer["hop"]> }),
  };
}

/** A frame of a connection to a machine. Undefined: a newer relay may send what this page does not know. */
export function frameIn(text: string): ToCaller | undefined {
  try {
    const frame: ToCaller | null = JSON.parse(text);
    if (frame?.type !== "success" && frame?.type !== "error") return frame ?? undefined;
    return { ...(answerIn(frame) ?? answerOf(UNREADABLE)), id: frame.id } as ToCaller;
  } catch {
    return undefined;
  }
}
