/** How a device proves its identity: our agent signs this connection's nonce, a bare device presents its token. */
import type { DeviceBulk, DeviceRegister } from "@matrx/shared/device-frames.ts";
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import { plainName } from "@matrx/shared/plain-names.ts";
import { AUDIENCE } from "@matrx/shared/tokens.ts";
import { errors, importJWK, type JWTPayload, jwtVerify } from "jose";
import { reasonOf, unauthenticated, verifySignature } from "../../auth/keys.ts";
import { hashOf, requireKept } from "../../auth/token-hash.ts";
import type { Secrets } from "../../secrets.ts";
import type { DeviceAttachment } from "../connection.ts";
import type { BareIdentity, DeviceInfo, DeviceRecord } from "../store.ts";

/** Whether a credential sent with the upgrade is the device's. It proves less than a registration, because it can be replayed. */
export async function isOwnCredential(
  secrets: Secrets,
  record: DeviceRecord,
  credential: string,
  host: string,
): Promise<boolean> {
  try {
    if (record.identity.kind === "agent")
      await readAssertion(record, record.identity.publicKey, credential, host);
    else await requireDeviceToken(secrets, record, record.identity, credential);
    return true;
  } catch {
    return false;
  }
}

/** Throws MatrxError `UNAUTHENTICATED` or `UNKNOWN_DEVICE`. */
export async function requireProof(
  secrets: Secrets,
  record: DeviceRecord,
  register: DeviceRegister | DeviceBulk,
  { nonce, host, token }: DeviceAttachment,
): Promise<void> {
  if (register.device_id !== record.id) throw wrongDevice(record.id);
  const credential = bareToken(register.auth_token) ?? token;
  if (!credential)
    throw new MatrxError(
      unauthenticated("device_register has no auth_token", 'Send auth_token: "Bearer <jwt>"'),
    );
  if (record.identity.kind === "bare")
    return requireDeviceToken(secrets, record, record.identity, credential);
  await requireAssertion(record, record.identity.publicKey, credential, { nonce, host });
}

async function requireDeviceToken(
  secrets: Secrets,
  record: DeviceRecord,
  identity: BareIdentity,
  token: string,
): Promise<void> {
  const claims = await verifySignature(secrets, AUDIENCE.device, token);
  await requireKept(claims, (hash) => "token" in identity && hash === identity.token);
  const { account, subject, id } = claims;
  const isNewest = "token" in identity ? (await hashOf(id)) === identity.token : id === identity.tokenId;
  if (account === record.account && subject === record.id && isNewest) return;
  throw new MatrxError(
    unauthenticated(
      "The token does not belong to this device, or was replaced",
      "Create a new one on the relay's page",
    ),
  );
}

/** Needs no clock: the nonce belongs to this connection, so an assertion cannot be replayed. */
async function requireAssertion(
  record: DeviceRecord,
  publicKey: string,
  assertion: string,
  { nonce, host }: { nonce: string; host: string },
): Promise<void> {
  const hint = "Pair this machine again: matrx pair --replace";
  let payload: JWTPayload;
  try {
    payload = await readAssertion(record, publicKey, assertion, host);
  } catch (error) {
    const refusal = unauthenticated(reasonOf(error).replace("token", "assertion"), hint);
    // Claims such as the host depend on the route here; the key does not.
    const isFinal = error instanceof errors.JWSSignatureVerificationFailed;
    throw new MatrxError({ ...refusal, ...(isFinal && { details: { final: true } }) }, error);
  }
  if (payload.nonce !== nonce)
    throw new MatrxError(unauthenticated("The assertion was made for another connection", hint));
}

/** Checks signature, device and host, but not the nonce. Throws jose's errors. */
async function readAssertion(
  record: DeviceRecord,
  publicKey: string,
  assertion: string,
  host: string,
): Promise<JWTPayload> {
  const key = await importJWK({ kty: "OKP", crv: "Ed25519", x: publicKey }, "EdDSA");
  const wanted = { algorithms: ["EdDSA"], issuer: record.id, audience: host };
  return (await jwtVerify(assertion, key, wanted)).payload;
}

function bareToken(token: string | undefined): string | undefined {
  return token?.replace(/^Bearer\s+/i, "");
}

function wrongDevice(id: string): MatrxError {
  return relayError(
    "UNKNOWN_DEVICE",
    `This connection is for the device ${id}, but device_register names another`,
    { hint: "Connect to /v1/device/ws?device=<id> with the id you register" },
  );
}

/** The part of a registration that is stored for the owner to see. */
export function deviceInfoOf(register: DeviceRegister): DeviceInfo {
  const { hostname, os, os_version, agent_version, journal_id } = register;
  const shown = (text: string | undefined) => (text === undefined ? null : plainName(text));
  return {
    hostname: shown(hostname),
    os: shown(os),
    os_version: shown(os_version),
    agent_version: shown(agent_version),
    journal_id: journal_id ?? null,
  };
}
