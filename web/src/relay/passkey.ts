/** This browser's passkeys: making one, and signing in with one. The browser asks the person; the relay checks. */
import { signInByPasskey } from "./account.ts";
import { api } from "./api.ts";
import type { Answer } from "./routes.ts";

type Passkey = Answer<"POST /v1/passkeys">;

/** Why this page can neither make nor use a passkey, as a hint to the person; undefined: it can. */
export function passkeyObstacle(): string | undefined {
  const { hostname, port, protocol } = location;
  if (/^(127\.[\d.]+|\[::1\])$/.test(hostname))
    return `Passkeys need a name: open ${protocol}//localhost${port && `:${port}`} instead of ${hostname}.`;
  if (/^(\[|[\d.]+$)/.test(hostname)) return `Passkeys need a host name, and ${hostname} is none.`;
  if (!isSecureContext) return "Passkeys need https.";
  if (!globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON)
    return "This browser is too old for passkeys.";
  return undefined;
}

/** Makes a passkey for the person who is signed in. `name`: undefined for one of the relay's choice. Throws ApiError. */
export async function makePasskey(name?: string): Promise<Passkey> {
  const { state, options } = await api("POST /v1/passkeys/options", { body: {} });
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as PublicKeyCredentialCreationOptionsJSON,
  );
  const credential = await chosen(navigator.credentials.create({ publicKey }));
  type NewPasskey = Parameters<typeof api<"POST /v1/passkeys">>[1];
  const body = { state, credential: credential.toJSON(), ...(name !== undefined && { name }) };
  return api("POST /v1/passkeys", { body } as NewPasskey);
}

/** Signs in by the passkey that the person chooses. Throws ApiError. */
export async function signInWithPasskey(): Promise<void> {
  const { state, options } = await api("POST /v1/sign-in/passkey/options", { body: {} });
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as PublicKeyCredentialRequestOptionsJSON,
  );
  const credential = await chosen(navigator.credentials.get({ publicKey }));
  await signInByPasskey({ state, credential: credential.toJSON() });
}

/** Lets the browser no longer offer a passkey that was removed. Not every browser listens, and nothing depends on it. */
export async function forgetPasskey({ id, host }: Pick<Passkey, "id" | "host">): Promise<void> {
  if (host !== location.hostname) return;
  await globalThis.PublicKeyCredential?.signalUnknownCredential?.({ rpId: host, credentialId: id }).catch(
    () => undefined,
  );
}

/** What the person chose. The browser tells no page whether they declined, or had nothing to choose. */
async function chosen(asked: Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    return (await asked) as PublicKeyCredential;
  } catch (error) {
    const { name, message } = error as Error;
    throw new Error(REASONS[name] ?? `The browser could not do it: ${message}`, { cause: error });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  NotAllowedError: "No passkey was used: the browser's question was closed, or there is none for this page.",
  InvalidStateError: "This device already has a passkey for this account.",
  ConstraintError: "This device can't check who you are: set up a PIN, fingerprint or face first.",
};
