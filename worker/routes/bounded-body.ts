/** Reads a request's body within limits of size and time that hold whatever its headers say. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { Tally } from "../tally.ts";

export interface BodyLimits {
  readonly bytes: number;
  /** Time for the whole body, in milliseconds. */
  readonly ms: number;
}

/** For a caller whose credential was checked. */
export const CALLER_BODY: BodyLimits = { bytes: LIMITS.restBodyBytes, ms: TIMES.restBodyWithin };
/** For anyone. */
export const OPEN_BODY: BodyLimits = { bytes: LIMITS.openBodyBytes, ms: TIMES.openBodyWithin };

const brokenOff = new Tally((count) => `request bodies broke off before their end: ${count}`);

/** The text of a body; "" if there is none. Throws MatrxError. */
export async function readBounded(request: Request, { bytes, ms }: BodyLimits): Promise<string> {
  const stated = request.headers.get("Content-Length");
  if (Number(stated ?? 0) > bytes) throw tooLarge(bytes);
  if (!request.body) return "";
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(tooSlow(ms)), ms);
  let isOver = false;
  // HTTP holds a body to its stated length, so the platform may read it, which is faster than counting here.
  const reading = stated === null ? countedText(request.body, bytes, () => isOver) : request.text();
  try {
    return await Promise.race([reading, late.promise]);
  } catch (error) {
    if (error instanceof MatrxError) throw error;
    brokenOff.add(Date.now());
    throw endedEarly(error);
  } finally {
    clearTimeout(timer);
    isOver = true;
  }
}

/** Reads until the end, the limit, or `isOver`; leaving the loop cancels the stream. */
async function countedText(
  body: ReadableStream<Uint8Array>,
  bytes: number,
  isOver: () => boolean,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let taken = 0;
  for await (const part of body) {
    if (isOver()) break;
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
