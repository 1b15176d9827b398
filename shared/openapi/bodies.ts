/** Schemas of bodies that the code only writes, and so defines nowhere else. */
import * as z from "zod";
import { callApprovalSchema } from "../approval.ts";

/** 202: the call continues. */
export const pendingCallSchema = z.object({
  call: z.string(),
  state: z.enum(["accepted", "awaiting_approval"]),
  url: z.string(),
  approval: callApprovalSchema.exactOptional().describe("What it waits for"),
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
