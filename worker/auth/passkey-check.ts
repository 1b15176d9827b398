/** Checks what an authenticator made or signed (WebAuthn, sections 7.1 and 7.2). The library is large and rarely needed. */
import {
  type CreatedCredential,
  PASSKEY_ALGORITHMS,
  type UsedCredential,
} from "@matrx/shared/passkey-api.ts";
import type { PasskeyCeremony } from "./passkey-challenge.ts";

/** What is kept of a passkey to check it later. */
export interface PasskeyKey {
  id: string;
  publicKey: Uint8Array<ArrayBuffer>;
  /** Rises with each use; stays 0 for passkeys that are synced. */
  counter: number;
  /** Whether the person's other devices have it, too. */
  synced: boolean;
}

/** The passkey that a page made; undefined if anything about it is wrong. */
export async function checkCreated(
  credential: CreatedCredential,
  ceremony: PasskeyCeremony,
): Promise<PasskeyKey | undefined> {
  const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
  if (!(await isOnItsOwn(credential)) || !(await isUnattested(credential))) return undefined;
  const checked = await refusedAsUndefined(
    verifyRegistrationResponse({
      response: { ...credential, clientExtensionResults: {} },
      ...expectationsOf(ceremony),
      supportedAlgorithmIDs: [...PASSKEY_ALGORITHMS],
    }),
  );
  if (!checked?.verified) return undefined;
  const { credential: made, credentialBackedUp: synced } = checked.registrationInfo;
  // The library reads the id out of the signed data, and checks only the other one's form.
  if (made.id !== credential.id) return undefined;
  return { id: made.id, publicKey: made.publicKey, counter: made.counter, synced };
}

/** The passkey after it was used; undefined if it was not, or not for this. */
export async function checkUsed(
  credential: UsedCredential,
  ceremony: PasskeyCeremony,
  known: PasskeyKey,
): Promise<PasskeyKey | undefined> {
  const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
  if (!(await isOnItsOwn(credential))) return undefined;
  const { id, publicKey, counter } = known;
  const checked = await refusedAsUndefined(
    verifyAuthenticationResponse({
      response: { ...credential, clientExtensionResults: {} },
      ...expectationsOf(ceremony),
      credential: { id, publicKey, counter },
    }),
  );
  if (!checked?.verified) return undefined;
  const { newCounter, credentialBackedUp: synced } = checked.authenticationInfo;
  return { id, publicKey, counter: newCounter, synced };
}

function expectationsOf({ challenge, origin, host }: PasskeyCeremony) {
  return {
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: host,
    requireUserVerification: true,
  };
}

/** The library tells what is wrong by throwing. */
async function refusedAsUndefined<Checked>(checking: Promise<Checked>): Promise<Checked | undefined> {
  try {
    return await checking;
  } catch {
    return undefined;
  }
}

/** Our page is never framed, so a credential from within another site's page is not our page's. */
async function isOnItsOwn({ response }: CreatedCredential | UsedCredential): Promise<boolean> {
  const { decodeClientDataJSON } = await import("@simplewebauthn/server/helpers");
  try {
    const { crossOrigin, topOrigin } = decodeClientDataJSON(response.clientDataJSON);
    return !crossOrigin && topOrigin === undefined;
  } catch {
    return false;
  }
}

/**
 * None was asked for. One with certificates would have the relay fetch their revocation lists, from wherever the sender
 * says.
 */
async function isUnattested({ response }: CreatedCredential): Promise<boolean> {
  const { decodeAttestationObject, isoBase64URL } = await import("@simplewebauthn/server/helpers");
  try {
    const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject));
    const format = attestation.get("fmt");
    return format === "none" || (format === "packed" && !attestation.get("attStmt").get("x5c"));
  } catch {
    return false;
  }
}
