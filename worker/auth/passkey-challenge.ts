/**
 * Challenges to passkeys. Nothing is stored for one: the page sends its signed `state` back, whose id is the challenge,
 * and an Account object lets that id work once.
 */
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import { type AccountId, type GrantId, isAccountId } from "@matrx/shared/ids.ts";
import { PASSKEY_ALGORITHMS, type PasskeyCreation, type PasskeyRequest } from "@matrx/shared/passkey-api.ts";
import { isLoopback } from "@matrx/shared/public-url.ts";
import { AUDIENCE, LIFETIME } from "@matrx/shared/tokens.ts";
import { base64url } from "jose";
import type { Secrets } from "../secrets.ts";
import { type AddressEnv, ownOrigin } from "./address.ts";
import { signToken, verifyToken } from "./keys.ts";

/** Where a passkey is made and used. */
export interface PasskeySite {
  origin: string;
  /** The relying party's id: a passkey is for one host name, and its port does not matter. */
  host: string;
}

/** What a credential must have signed. */
export interface PasskeyCeremony extends PasskeySite {
  challenge: string;
  /** Milliseconds since 1970. */
  expires: number;
}

/** A passkey that an account has, so that the same authenticator does not make another one. */
export interface PasskeyDescriptor {
  id: string;
  transports: string[];
}

const CHALLENGE_BYTES = 32;
const TIMEOUT = LIFETIME.passkey * 1000;

/** To whom the state of a sign-in belongs: nobody is known yet. */
const ANYONE = { account: "relay", subject: "sign-in" };

/** The page's site. Throws MatrxError `CONFLICT` at a bare IP address, which no passkey can be for. */
export function passkeySite(env: AddressEnv, request: Request): PasskeySite {
  const origin = ownOrigin(env, request);
  const url = new URL(origin);
  const host = url.hostname;
  if (!/^\[|^\d+(?:\.\d+){3}$/.test(host)) return { origin, host };
  url.hostname = "localhost";
  throw relayError("CONFLICT", `A passkey is for a host name, and ${host} is none`, {
    hint: isLoopback(host)
      ? `Open ${url.origin} instead`
      : "Give the relay a name (docs/guides/proxy.md), or sign in with a link",
  });
}

/** What a page needs to make a passkey for an account. Only the session that asked can finish it. */
export async function creationOf(
  secrets: Secrets,
  { host }: PasskeySite,
  owner: { account: AccountId; grant: GrantId },
  { name, existing }: { name: string | null; existing: readonly PasskeyDescriptor[] },
): Promise<PasskeyCreation> {
  const { challenge, state } = await makeChallenge(secrets, {
    account: owner.account,
    subject: owner.grant,
  });
  return {
    state,
    options: {
      rp: { id: host, name: "Matrx Relay" },
      user: {
        id: base64url.encode(owner.account),
        name: name ?? owner.account,
        displayName: name ?? owner.account,
      },
      challenge,
      pubKeyCredParams: PASSKEY_ALGORITHMS.map((alg) => ({ type: "public-key", alg })),
      timeout: TIMEOUT,
      excludeCredentials: existing.map((passkey) => ({ ...passkey, type: "public-key" })),
      authenticatorSelection: {
        residentKey: "required",
        requireResidentKey: true,
        userVerification: "required",
      },
      attestation: "none",
    },
  };
}

/** What a page needs to sign in with whichever passkey the person chooses. */
export async function requestOf(secrets: Secrets, { host }: PasskeySite): Promise<PasskeyRequest> {
  const { challenge, state } = await makeChallenge(secrets, ANYONE);
  return { state, options: { challenge, rpId: host, timeout: TIMEOUT, userVerification: "required" } };
}

/** The ceremony that a session began by `creationOf`; undefined if it has expired, or is another one's. */
export function creationBegun(
  secrets: Secrets,
  site: PasskeySite,
  owner: { account: AccountId; grant: GrantId },
  state: string,
): Promise<PasskeyCeremony | undefined> {
  return begun(secrets, site, { account: owner.account, subject: owner.grant }, state);
}

/** The ceremony that began by `requestOf`; undefined if it has expired, or is none. */
export function signInBegun(
  secrets: Secrets,
  site: PasskeySite,
  state: string,
): Promise<PasskeyCeremony | undefined> {
  return begun(secrets, site, ANYONE, state);
}

/** The account that a credential's user handle names; undefined if it cannot be one. */
export function accountOfHandle(handle: string): AccountId | undefined {
  const text = new TextDecoder().decode(base64url.decode(handle));
  return isAccountId(text) ? text : undefined;
}

interface Owner {
  account: string;
  subject: string;
}

async function makeChallenge(secrets: Secrets, owner: Owner): Promise<{ challenge: string; state: string }> {
  const challenge = base64url.encode(crypto.getRandomValues(new Uint8Array(CHALLENGE_BYTES)));
  const claims = { ...owner, id: challenge };
  return { challenge, state: await signToken(secrets, AUDIENCE.passkey, claims, LIFETIME.passkey) };
}

async function begun(
  secrets: Secrets,
  site: PasskeySite,
  owner: Owner,
  state: string,
): Promise<PasskeyCeremony | undefined> {
  try {
    const { account, subject, id, expires } = await verifyToken(secrets, AUDIENCE.passkey, state);
    const isOwners = account === owner.account && subject === owner.subject;
    return isOwners ? { ...site, challenge: id, expires } : undefined;
  } catch (error) {
    if (error instanceof MatrxError && error.code === "UNAUTHENTICATED") return undefined;
    throw error;
  }
}
