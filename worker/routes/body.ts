/** Reads request bodies at the border. */
import { type Call, readCall } from "@matrx/shared/caller/from-caller.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { check, parseJsonObject } from "@matrx/shared/json-input.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import type * as z from "zod";
import { type BodyLimits, CALLER_BODY, OPEN_BODY, readBounded } from "./bounded-body.ts";

const HINT = "Send a JSON object as the body; GET /docs shows one for each route";

/** The text of a caller's body that is a JSON object, to be passed on as it is. Throws MatrxError. */
export async function readObjectText(request: Request): Promise<string> {
  const text = (await readText(request, CALLER_BODY)) || "{}";
  parseJsonObject(text, LIMITS.restBodyBytes, HINT);
  return text;
}

/** A caller's body that is a call. Throws MatrxError. */
export async function readCallBody(request: Request): Promise<Call> {
  return readCall(await readObject(request, CALLER_BODY));
}

/** A caller's body of a known shape. Throws MatrxError `INVALID_PARAMETERS` naming the field. */
export async function readBody<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
): Promise<z.infer<Schema>> {
  return check(schema, await readObject(request, CALLER_BODY));
}

/** The same for a request that needs no credential: its limits are tighter. Throws MatrxError. */
export async function readOpenBody<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
): Promise<z.infer<Schema>> {
  return check(schema, await readObject(request, OPEN_BODY));
}

/** The JSON object of a body; an empty body is `{}`. */
async function readObject(request: Request, limits: BodyLimits): Promise<Record<string, unknown>> {
  return parseJsonObject((await readText(request, limits)) || "{}", limits.bytes, HINT);
}

/** The text of a body. A form's content type is refused: no page of another origin can send JSON without asking first. */
async function readText(request: Request, limits: BodyLimits): Promise<string> {
  const text = await readBounded(request, limits);
  if (text !== "" && request.headers.has("Cookie")) requireJson(request);
  return text;
}

function requireJson(request: Request): void {
  const type = request.headers.get("Content-Type")?.split(";")[0]?.trim().toLowerCase();
  if (type === "application/json") return;
  throw new MatrxError({
    code: "INVALID_MESSAGE",
    message: `The body's type is ${type ?? "missing"}, not application/json`,
    hint: "Send Content-Type: application/json",
    hop: "relay",
  });
}
