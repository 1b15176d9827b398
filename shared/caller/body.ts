/** Reads request bodies, within limits of size and time that hold whatever the headers say. */
import type * as z from "zod";
import { MatrxError, relayError } from "../errors.ts";
import { check, parseJsonObject } from "../json-input.ts";
import { LIMITS } from "../limits.ts";
import { type Call, readCall } from "./from-caller.ts";

/** What a host requires of a body. */
export interface BodyRules {
  readonly bytes: number;
  /** Time for the whole body, in milliseconds. */
  readonly ms: number;
  /** Whether the body must be declared as JSON, which pages of other origins cannot send without a preflight. */
  readonly mustBeJson: (request: Request) => boolean;
  /** Where nothing must not be taken for `{}`. */
  readonly isRequired?: boolean;
  /** Called for each body that broke off. */
  readonly brokeOff: () => void;
}

const HINT = "Send a JSON object as the body; GET /docs shows one for each route";

/** The text of a body that is a JSON object, to be passed on unchanged. Throws MatrxError. */
export async function readObjectText(request: Request, rules: BodyRules): Promise<string> {
  const text = (await readText(request, rules)) || "{}";
  parseJsonObject(text, LIMITS.restBodyBytes, HINT);
  return text;
}

/** A body that is a call. Throws MatrxError. */
export async function readCallBody(request: Request, rules: BodyRules): Promise<Call> {
  return readCall(await readObject(request, rules));
}

/** A body of a known shape; an empty one is `{}`. Throws MatrxError `INVALID_PARAMETERS` naming the field. */
export async function readBody<Schema extends z.ZodType>(
  request: Request,
  rules: BodyRules,
  schema: Schema,
): Promise<z.infer<Schema>> {
  return check(schema, await readObject(request, rules));
}

async function readObject(request: Request, rules: BodyRules): Promise<Record<string, unknown>> {
  return parseJsonObject((await readText(request, rules)) || "{}", rules.bytes, HINT);
}

async function readText(request: Request, rules: BodyRules): Promise<string> {
  const text = await readBounded(request, rules);
  if (text !== "" && rules.mustBeJson(request)) requireJson(request);
  if (text === "" && rules.isRequired)
    throw relayError("INVALID_MESSAGE", "The request has no body", { hint: HINT });
  return text;
}

function requireJson(request: Request): void {
  const type = request.headers.get("Content-Type")?.split(";")[0]?.trim().toLowerCase();
  if (type === "application/json") return;
  throw relayError(
    "INVALID_MESSAGE",
    `The body's type is ${type?.slice(0, 64) ?? "missing"}, not application/json`,
    {
      hint: "Send Content-Type: application/json",
    },
  );
}

/** The text of a body; "" if there is none. Throws MatrxError. */
export async function readBounded(
  request: Request,
  { bytes, ms, brokeOff }: Omit<BodyRules, "mustBeJson">,
): Promise<string> {
  const stated = request.headers.get("Content-Length");
  if (Number(stated ?? 0) > bytes) throw tooLarge(bytes);
  if (stated === null && !request.body) return "";
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(tooSlow(ms)), ms);
  let isOver = false;
  // HTTP enforces a declared length, so the platform may read the body, which is faster than counting here.
  const reading =
    stated === null && request.body ? countedText(request.body, bytes, () => isOver) : request.text();
  try {
    return await Promise.race([reading, late.promise]);
  } catch (cause) {
    if (cause instanceof MatrxError) throw cause;
    brokeOff();
    throw relayError("INVALID_MESSAGE", "The body ended too early", {
      hint: "Send the request again",
      cause,
    });
  } finally {
    clearTimeout(timer);
    isOver = true;
  }
}

/** Reads until the end, the limit, or `isOver`. The rest is left to be read: see the relay's `discardRest`. */
async function countedText(
  body: ReadableStream<Uint8Array>,
  bytes: number,
  isOver: () => boolean,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let taken = 0;
  for await (const part of body.values({ preventCancel: true })) {
    if (isOver()) break;
    taken += part.byteLength;
    if (taken > bytes) throw tooLarge(bytes);
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}

function tooLarge(bytes: number): MatrxError {
  return relayError("PAYLOAD_TOO_LARGE", `The body is larger than ${bytes} bytes`, {
    hint: "Send large content in parts",
    details: { limit_bytes: bytes },
  });
}

function tooSlow(ms: number): MatrxError {
  return relayError("INVALID_MESSAGE", `The body did not arrive within ${ms / 1000} seconds`, {
    hint: "Send the whole body at once",
    details: { limit_ms: ms },
  });
}
