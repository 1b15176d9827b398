/** Reads a request's body under a limit that holds whatever its headers say: bytes are counted as they come, and so is the time. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { Tally } from "../tally.ts";

export interface BodyLimits {
  readonly bytes: number;
  /** Milliseconds in which all of it must come. */
  readonly ms: number;
}

/** Of a caller whose credential was checked. */
export const CALLER_BODY: BodyLimits = { bytes: LIMITS.restBodyBytes, ms: TIMES.restBodyWithin };
/** Of anyone. */
export const OPEN_BODY: BodyLimits = { bytes: LIMITS.openBodyBytes, ms: TIMES.openBodyWithin };

const brokenOff = new Tally((count) => `request bodies broke off before their end: ${count}`);

/** The text of a body; "" if there is none. Throws MatrxError. */
export async function readBounded(request: Request, { bytes, ms }: BodyLimits): Promise<string> {
  const stated = request.headers.get("Content-Length");
  if (Number(stated ?? 0) > bytes) throw tooLarge(bytes);
  if (!request.body) return "";
  const late = Promise.withResolvers<never>();
  const over = new AbortController();
  const timer = setTimeout(() => late.reject(tooSlow(ms)), ms);
  // HTTP holds a body to the length that was stated; then the platform reads it faster than we count.
  const reading = stated === null ? countedText(request.body, bytes, over.signal) : request.text();
  try {
    return await Promise.race([reading, late.promise]);
  } catch (error) {
    if (error instanceof MatrxError) throw error;
    brokenOff.add(Date.now());
    throw endedEarly(error);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}

/** Reads until the end, the limit, or `over`; leaving the loop cancels the stream. */
async function countedText(
  body: ReadableStream<Uint8Array>,
  bytes: number,
  over: AbortSignal,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let taken = 0;
  for await (const part of body) {
    if (over.aborted) break;
    taken += part.byteLength;
    if (taken > bytes) throw tooLarge(bytes);
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}

function tooLarge(bytes: number): MatrxError {
  return new MatrxError({
    code: "PAYLOAD_TOO_LARGE",
    message: `The body is larger than ${bytes} bytes`,
    hint: "Send large content in parts",
    hop: "relay",
    details: { limit_bytes: bytes },
  });
}

function tooSlow(ms: number): MatrxError {
  return new MatrxError({
    code: "INVALID_MESSAGE",
    message: `The body did not arrive within ${ms / 1000} seconds`,
    hint: "Send the whole body at once",
    hop: "relay",
    details: { limit_ms: ms },
  });
}

function endedEarly(cause: unknown): MatrxError {
  return new MatrxError(
    {
      code: "INVALID_MESSAGE",
      message: "The body ended too early",
      hint: "Send the request again",
      hop: "relay",
    },
    cause,
  );
}
