/** Making passkeys and signing in with them, as the page does. */
import type {
  PasskeyCreation,
  PasskeyRequest,
  PasskeyView,
  UsedCredential,
} from "@matrx/shared/passkey-api.ts";
import { Authenticator, type Twist } from "./authenticator.ts";
import { Browser } from "./browser.ts";
import { json, type Person } from "./relay.ts";
import { ask } from "./request.ts";

/** Begins to make a passkey. */
export function beginPasskey(person: Person): Promise<PasskeyCreation> {
  return person.post("/v1/passkeys/options", {});
}

/** A new passkey of this person's. */
export async function addPasskey(
  person: Person,
  authenticator?: Authenticator,
): Promise<{ authenticator: Authenticator; view: PasskeyView }> {
  const made = authenticator ?? (await Authenticator.open());
  const { state, options } = await beginPasskey(person);
  const credential = await made.create(options);
  return { authenticator: made, view: await person.post("/v1/passkeys", { state, credential }) };
}

/** Begins to sign in. */
export async function beginSignIn(): Promise<PasskeyRequest> {
  return (await ask("/v1/sign-in/passkey/options", { method: "POST" })).json();
}

/** Sends what an authenticator signed. */
export async function sendSignIn(
  state: string,
  credential: UsedCredential,
  headers: Record<string, string> = {},
): Promise<Response> {
  const { publicKey: key } = await Browser.open();
  return ask("/v1/sign-in/passkey", json({ state, credential, key }, headers));
}

/** Signs in with a passkey, as told. */
export async function signInWith(authenticator: Authenticator, twist: Twist = {}): Promise<Response> {
  const { state, options } = await beginSignIn();
  return sendSignIn(state, await authenticator.get(options, twist));
}
