/** What an approval is about: a hash over everything that decides what the call does. */
import { hash } from "node:crypto";
import { agentError } from "@matrx/shared/errors.ts";
import canonicalize from "canonicalize";
import type { PathState } from "./approved-state.ts";
import type { BoundFacts } from "./preview.ts";

export interface BindingParts {
  readonly device: string;
  readonly grant: string;
  /** Null: a session just for this call. */
  readonly session: string | null;
  readonly cwd: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly paths: readonly Pick<PathState, "path" | "intent" | "kind" | "content">[];
  readonly facts: BoundFacts;
  /** What limits the call, as a hash. */
  readonly limits: string;
}

/** The SHA-256 of the parts as canonical JSON (RFC 8785), in hex. */
export function bindingOf(parts: BindingParts): string {
  const { device, grant, session, cwd, tool, input, facts, limits } = parts;
  return digestOf({
    device,
    grant,
    session,
    cwd,
    tool,
    input,
    paths: parts.paths.map(boundPath),
    facts,
    limits,
  });
}

function boundPath({ path, intent, kind, content }: BindingParts["paths"][number]) {
  return { path, intent, kind, content: content ?? null };
}

export function digestOf(value: unknown): string {
  return hash("sha256", canonicalJson(value), "hex");
}

/** RFC 8785. Throws MatrxError for a lone surrogate, which has no UTF-8. */
export function canonicalJson(value: unknown): string {
  try {
    return canonicalize(value) ?? "null";
  } catch (cause) {
    throw agentError(
      "INVALID_PARAMETERS",
      "The input contains half a character, so nobody can be asked about it",
      {
        hint: "Send whole characters: surrogates come in pairs",
        cause,
      },
    );
  }
}

/** What differs, in words for a message. */
export function differences(before: BindingParts, now: BindingParts): string[] {
  const is = (part: Exclude<keyof BindingParts, "paths">) =>
    canonicalJson(before[part]) === canonicalJson(now[part]);
  return [
    ...(is("device") && is("grant") && is("tool") && is("input") ? [] : ["the call itself"]),
    ...(is("session") ? [] : ["the session"]),
    ...(is("cwd") ? [] : ["the working directory"]),
    ...pathDifferences(before, now),
    ...Object.keys({ ...before.facts, ...now.facts }).filter((key) => before.facts[key] !== now.facts[key]),
    ...(is("limits") ? [] : ["what the grant and the policies allow"]),
  ];
}

function pathDifferences(before: BindingParts, now: BindingParts): string[] {
  const places = Array.from({ length: Math.max(before.paths.length, now.paths.length) }, (_, index) => index);
  return places.flatMap((index) => {
    const [old, young] = [before.paths[index], now.paths[index]];
    const isSame = old && young && canonicalJson(boundPath(old)) === canonicalJson(boundPath(young));
    return isSame ? [] : [(young ?? old)?.path ?? ""];
  });
}
