/** Bodies that the code writes and never reads, so that no schema of them stands elsewhere. */
import * as z from "zod";
import { callSchema } from "../caller-frames.ts";
import { ERROR_CODES } from "../errors.ts";

/** A call as REST takes it; `queue_for` is reserved, and refused. */
export const callBodySchema = callSchema.omit({ queue_for: true });

/** One answer to one call (guide, Receiving a Response). */
export const answerSchema = z.object({
  id: z.string().exactOptional(),
  type: z.enum(["success", "error"]),
  output: z.string(),
  call: z.string().exactOptional(),
  device: z.string().exactOptional(),
  image: z.object({ media_type: z.string(), base64_data: z.string() }).nullable().exactOptional(),
  metadata: z.record(z.string(), z.unknown()).exactOptional(),
  code: z.enum(ERROR_CODES).exactOptional(),
  hint: z.string().exactOptional(),
  hop: z.enum(["caller", "relay", "device", "agent", "tool"]).exactOptional(),
});

/** 202: the call goes on. */
export const pendingCallSchema = z.object({
  call: z.string(),
  state: z.literal("accepted"),
  url: z.string(),
});

/** 202: the device was asked to stop it. */
export const stoppingCallSchema = z.object({ call: z.string() });

export const healthSchema = z.object({ status: z.literal("ok") });

/** JSON Web Key Set (RFC 7517) of Ed25519 keys (RFC 8037). */
export const publicKeysSchema = z.object({
  keys: z.array(
    z.object({
      kty: z.literal("OKP"),
      crv: z.literal("Ed25519"),
      x: z.string(),
      kid: z.string(),
      alg: z.literal("EdDSA"),
      use: z.literal("sig"),
    }),
  ),
});

/** A pairing that was confirmed; a login has no device. */
export const confirmedPairingSchema = z.object({ name: z.string(), device: z.string().exactOptional() });

/** The input of a tool, which the device checks; `GET .../tools` has the schema of each. */
export const toolInputSchema = z.record(z.string(), z.unknown());

/** An OpenAPI document. */
export const openApiSchema = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({}),
  paths: z.looseObject({}),
});
