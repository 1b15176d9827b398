/** What the relay requires of request bodies. */
import type { BodyRules } from "@matrx/shared/caller/body.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import type { MiddlewareHandler } from "hono";
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

/** After so long without another byte, in milliseconds, nobody is busy sending. */
const PAUSE = 1000;
/** A part counts as at least so many bytes: a million parts of one byte take seconds of the processor. */
const PART_BYTES = 1024;

/**
 * After a refusal, reads and discards what the caller is still sending: the platform closes the connection after the
 * answer, and a caller that is still sending would see a closed connection instead of the answer. It stops at the end of the
 * body, at a pause, after the time that a body has, or after as many bytes as a body may have.
 */
export const discardRest: MiddlewareHandler = async (c, next) => {
  await next();
  const { body } = c.req.raw;
  if (c.res.status < 400 || !body || body.locked) return;
  try {
    await discard(body);
  } catch {
    rules.brokeOff();
  }
};

/** Rejects if the body breaks off. */
async function discard(body: ReadableStream<Uint8Array>): Promise<void> {
  const reader = body.getReader();
  const until = Date.now() + TIMES.openBodyWithin;
  let left: number = LIMITS.restBodyBytes;
  while (left > 0 && Date.now() < until) {
    const part = await withinPause(reader);
    if (!part) break;
    left -= Math.max(part.byteLength, PART_BYTES);
  }
  await reader.cancel();
}

/** The next part; `undefined` at the end, or after a pause. */
async function withinPause(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | undefined> {
  const pause = Promise.withResolvers<undefined>();
  const timer = setTimeout(pause.resolve, PAUSE);
  try {
    return (await Promise.race([reader.read(), pause.promise]))?.value;
  } finally {
    clearTimeout(timer);
  }
}
