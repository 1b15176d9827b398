/** This browser's passkeys: making one, and signing in with one. The browser asks the person; the relay checks. */
import { api, signIn } from "./api.js";

/** Why this page can neither make nor use a passkey, as a hint to the person; undefined: it can. */
export function passkeyObstacle() {
  const { hostname, port, protocol } = location;
  if (/^(127\.[\d.]+|\[::1\])$/.test(hostname))
    return `Passkeys need a name: open ${protocol}//localhost${port && `:${port}`} instead of ${hostname}.`;
  if (/^(\[|[\d.]+$)/.test(hostname)) return `Passkeys need a host name, and ${hostname} is none.`;
  if (!globalThis.isSecureContext) return "Passkeys need https.";
  if (!globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON)
    return "This browser is too old for passkeys.";
  return undefined;
}

/** Makes a passkey for the person who is signed in. `name`: undefined for one of the relay's choice. */
export async function makePasskey(name) {
  const { state, options } = await api("POST /v1/passkeys/options", {});
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const credential = await chosen(navigator.credentials.create({ publicKey }));
  return api("POST /v1/passkeys", { state, credential: credential.toJSON(), name });
}

/** Signs in by the passkey that the person chooses. */
export async function usePasskey() {
  const { state, options } = await api("POST /v1/sign-in/passkey/options", {});
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const credential = await chosen(navigator.credentials.get({ publicKey }));
  await signIn("/v1/sign-in/passkey", { state, credential: credential.toJSON() });
}

/** Lets the browser no longer offer a passkey that was removed. Not every browser listens, and nothing depends on it. */
export async function forgetPasskey({ id, host }) {
  if (host !== location.hostname) return;
  await globalThis.PublicKeyCredential?.signalUnknownCredential?.({ rpId: host, credentialId: id }).catch(
    () => undefined,
  );
}

/** What the person chose. The browser tells no page whether they declined, or had nothing to choose. */
async function chosen(asked) {
  try {
    return await asked;
  } catch (error) {
    throw new Error(REASONS[error.name] ?? `The browser could not do it: ${error.message}`, { cause: error });
  }
}

const REASONS = {
  NotAllowedError: "No passkey was used: the browser's question was closed, or there is none for this page.",
  InvalidStateError: "This device already has a passkey for this account.",
  ConstraintError: "This device can't check who you are: set up a PIN, fingerprint or face first.",
};
