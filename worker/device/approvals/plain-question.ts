/** What a person is asked about a call on a device that cannot prepare it: its input is all that the relay knows. */
import type { Effect } from "@matrx/shared/effects.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { type DeviceId, hexOf } from "@matrx/shared/ids.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import { QUESTION_CHARS, type Question, questionSchema, visibleText } from "@matrx/shared/question.ts";
import { sha256 } from "@noble/hashes/sha2.js";
import canonicalize from "canonicalize";

interface PlainCall {
  readonly device: DeviceId;
  readonly tool: string;
  readonly effect: Effect;
  /** JSON. */
  readonly input: string;
  readonly grant: GrantScope;
  readonly session: string | undefined;
  readonly policy: Policy;
}

const NOT_RESOLVED =
  "The device can't say which files the call would touch, or check that they stay the same until it runs";

/** The question, with every hidden character made visible. */
export function plainQuestion({ tool, effect, input }: Omit<PlainCall, "grant">): Question {
  const canonical = visibleText(canonicalOf(JSON.parse(input)));
  const isCut = canonical.length > QUESTION_CHARS.text;
  return questionSchema.parse({
    summary: `${tool} ${canonical}`,
    ...{ tool, effect },
    input: isCut ? canonical.slice(0, QUESTION_CHARS.text) : canonical,
    ...(isCut && { input_cut: true }),
    warnings: [NOT_RESOLVED],
  });
}

/** What a decision covers, as far as the relay knows it. */
export function plainBinding({ device, tool, input, grant, session, policy }: PlainCall): string {
  const parts = { device, grant: grant.id, session: session ?? null, tool, input: JSON.parse(input), policy };
  return hexOf(sha256(new TextEncoder().encode(canonicalOf(parts))));
}

/** RFC 8785; plain JSON for what that cannot write, such as half a surrogate pair. */
function canonicalOf(value: unknown): string {
  try {
    return canonicalize(value) ?? "";
  } catch {
    return JSON.stringify(value);
  }
}
