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

/**
 * Reads on where a request was refused before its end, and throws it away: the platform closes the connection after the
 * answer, and whoever is still sending then finds it closed, and no answer. Until the end, a pause, the time that a body
 * has, or as many bytes as a body may have.
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
    left -= part.byteLength;
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
