/** Reads request bodies at the border. */
import { check, parseJsonObject } from "@matrx/shared/caller-frames.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import type * as z from "zod";

/** The JSON object of a body; an empty body is `{}`. Throws MatrxError. */
async function readObject(request: Request): Promise<Record<string, unknown>> {
  return parseJsonObject((await readText(request)) || "{}", LIMITS.restBodyBytes);
}

/** The text of a body that is a JSON object, to be passed on as it is. Throws MatrxError. */
export async function readObjectText(request: Request): Promise<string> {
  const text = (await readText(request)) || "{}";
  parseJsonObject(text, LIMITS.restBodyBytes);
  return text;
}

/** A body of a known shape. Throws MatrxError `INVALID_PARAMETERS` naming the field. */
export async function readBody<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
): Promise<z.infer<Schema>> {
  return check(schema, await readObject(request));
}

/** The text of a body. A form's content type is refused: no page of another origin can send JSON without asking first. */
async function readText(request: Request): Promise<string> {
  const type = request.headers.get("Content-Type")?.split(";")[0]?.trim().toLowerCase();
  const length = Number(request.headers.get("Content-Length") ?? 0);
  if (length > LIMITS.restBodyBytes) throw tooLarge();
  const text = await request.text();
  if (text !== "" && request.headers.has("Cookie") && type !== "application/json") throw notJson(type);
  return text;
}

function tooLarge(): MatrxError {
  return new MatrxError({
    code: "PAYLOAD_TOO_LARGE",
    message: `The body is larger than ${LIMITS.restBodyBytes} bytes`,
    hint: "Send large content in parts",
    hop: "relay",
    details: { limit_bytes: LIMITS.restBodyBytes },
  });
}

function notJson(type: string | undefined): MatrxError {
  return new MatrxError({
    code: "INVALID_MESSAGE",
    message: `The body's type is ${type ?? "missing"}, not application/json`,
    hint: "Send Content-Type: application/json",
    hop: "relay",
  });
}
