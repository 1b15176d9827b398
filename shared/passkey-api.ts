/**
 * Passkeys (WebAuthn, level 3): what a page hands to `navigator.credentials`, and what that gives back, in the JSON
 * forms of the standard (`parseCreationOptionsFromJSON`, `parseRequestOptionsFromJSON`, `toJSON`).
 */
import * as z from "zod";
import { shownName } from "./plain-names.ts";
import { sessionKeySchema } from "./session-api.ts";

/** COSE algorithms that a passkey may sign with, the best first: Ed25519, ECDSA on P-256, RSA (PKCS #1). */
export const PASSKEY_ALGORITHMS = [-8, -7, -257] as const;

const base64url = (characters: number) =>
  z
    .string()
    .min(1)
    .max(characters)
    // One character more than a multiple of four is no text of it (RFC 4648, section 5).
    .regex(/^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2,3})?$/, "must be base64url");

/** At most 1023 bytes (WebAuthn, section 6.1.1). */
const credentialId = base64url(1364);
const clientData = base64url(8192);
const transports = z.array(z.string().max(32)).max(8);
const publicKey = z.literal("public-key");

const descriptorSchema = z.object({
  id: z.string(),
  type: publicKey,
  transports: z.array(z.string()).optional(),
});

/** `PublicKeyCredentialCreationOptionsJSON`, as far as it is used. */
const creationOptionsSchema = z.object({
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  challenge: z.string(),
  pubKeyCredParams: z.array(z.object({ type: publicKey, alg: z.int() })),
  timeout: z.int().describe("Milliseconds"),
  excludeCredentials: z.array(descriptorSchema),
  authenticatorSelection: z.object({
    residentKey: z.literal("required"),
    requireResidentKey: z.literal(true),
    userVerification: z.literal("required"),
  }),
  attestation: z.literal("none"),
});

/** `PublicKeyCredentialRequestOptionsJSON`, as far as it is used. */
const requestOptionsSchema = z.object({
  challenge: z.string(),
  rpId: z.string(),
  timeout: z.int().describe("Milliseconds"),
  userVerification: z.literal("required"),
});

const state = z.string().describe("To be sent back with the credential; works once, within 5 minutes");

/** Answer to `POST /v1/passkeys/options` */
export const passkeyCreationSchema = z.object({ state, options: creationOptionsSchema });
export type PasskeyCreation = z.infer<typeof passkeyCreationSchema>;

/** Answer to `POST /v1/sign-in/passkey/options` */
export const passkeyRequestSchema = z.object({ state, options: requestOptionsSchema });
export type PasskeyRequest = z.infer<typeof passkeyRequestSchema>;

/** `RegistrationResponseJSON`. Browsers send more, which says the same. */
export const createdCredentialSchema = z.object({
  id: credentialId,
  rawId: credentialId,
  type: publicKey,
  response: z.object({
    clientDataJSON: clientData,
    attestationObject: base64url(16_384),
    transports: transports.default([]),
  }),
});
export type CreatedCredential = z.infer<typeof createdCredentialSchema>;

/** `AuthenticationResponseJSON`. Without `userHandle` nobody knows whose passkey it is. */
export const usedCredentialSchema = z.object({
  id: credentialId,
  rawId: credentialId,
  type: publicKey,
  response: z.object({
    clientDataJSON: clientData,
    authenticatorData: base64url(8192),
    signature: base64url(2048),
    userHandle: base64url(88),
  }),
});
export type UsedCredential = z.infer<typeof usedCredentialSchema>;

const sentState = z.string().max(2048);

/** `POST /v1/passkeys` */
export const newPasskeySchema = z.strictObject({
  state: sentState,
  credential: createdCredentialSchema,
  name: shownName.optional().describe("If absent, named after the browser"),
});

/** `PATCH /v1/passkeys/{passkey}` */
export const changedPasskeySchema = z.strictObject({ name: shownName });

/** `POST /v1/sign-in/passkey` */
export const passkeySignInSchema = z.strictObject({
  state: sentState,
  credential: usedCredentialSchema,
  key: sessionKeySchema,
});

export const passkeyViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  host: z.string().describe("The host name that it signs in at, and no other"),
  synced: z.boolean().describe("Whether other devices of the person have it, too"),
  created: z.iso.datetime(),
  used: z.iso.datetime().nullable().describe("When it last signed somebody in"),
});
export type PasskeyView = z.infer<typeof passkeyViewSchema>;

export const passkeyListSchema = z.object({ passkeys: z.array(passkeyViewSchema) });
