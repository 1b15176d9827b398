/** What the relay requires of request bodies. */
import type { BodyRules } from "@matrx/shared/caller/body.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { Tally } from "./tally.ts";

const brokenOff = new Tally((count) => `request bodies broke off before their end: ${count}`);

const rules: Pick<BodyRules, "mustBeJson" | "brokeOff"> = {
  mustBeJson: ({ headers }) => headers.has("Origin") && !headers.has("Authorization"),
  brokeOff: () => brokenOff.add(Date.now()),
};

/** For authenticated callers. */
export const CALLER_BODY: BodyRules = { ...rules, bytes: LIMITS.restBodyBytes, ms: TIMES.restBodyWithin };
/** For anyone. */
export const OPEN_BODY: BodyRules = { ...rules, bytes: LIMITS.openBodyBytes, ms: TIMES.openBodyWithin };
