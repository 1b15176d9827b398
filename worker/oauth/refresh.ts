/**
 * Refreshes a token. Programs may share one, or ask again when an answer got lost: for a minute all get the same answer.
 * A token that comes back after that is a thief's or its victim's, and ends the grant (RFC 9700, section 4.14.2).
 */
import { CompactEncrypt, compactDecrypt } from "jose";
import { hashOf } from "../auth/token-hash.ts";
import type { OAuthStore } from "../objects/oauth-store.ts";
import type { HeldKv } from "./kv.ts";

export interface Refresh {
  token: string;
  /** What the client sends to prove who it is, as one text. */
  credentials: string;
  /** Of the grant in the store. */
  grantKey: string;
  /** What it asks for; undefined: what it had. */
  resource: string | undefined;
  scope: string | undefined;
}

interface Issued {
  refresh_token: string;
  /** In seconds. */
  expires_in: number;
  scope: string;
  resource: string;
}

type Store = DurableObjectStub<OAuthStore>;

/** `trade` has the library do it; what it writes is held back, and written in one go if nobody was faster. */
export async function answerRefresh(
  store: Store,
  refresh: Refresh,
  trade: () => Promise<{ response: Response; writes: HeldKv }>,
): Promise<Response> {
  for (;;) {
    const known = await knownAnswer(store, refresh);
    if (known) return known;
    const { response, writes } = await trade();
    if (response.status !== 200) return response;
    const text = await response.text();
    const { token, grantKey } = refresh;
    const replaced = { token: await hashOf(token), grantKey, answer: await sealed(text, refresh) };
    // Otherwise somebody else refreshed it, or ended it, meanwhile.
    if (await store.replace(writes.held, replaced)) return new Response(text, response);
  }
}

/** The answer for a token that was replaced before; undefined: the library has to say. */
async function knownAnswer(store: Store, refresh: Refresh): Promise<Response | undefined> {
  let [issued, token]: [Issued | undefined, string] = [undefined, refresh.token];
  // Its successor may have been replaced, too.
  for (;;) {
    const replaced = await store.replaced(await hashOf(token));
    if (!replaced) break;
    if (replaced.answer === null) {
      await store.delete(refresh.grantKey);
      return refusal();
    }
    const opened = await unsealed(replaced.answer, { token, credentials: refresh.credentials });
    if (!opened) return undefined;
    const age = Math.floor((Date.now() - replaced.at) / 1000);
    issued = { ...opened, expires_in: opened.expires_in - age };
    token = issued.refresh_token;
  }
  return issued && mayHave(refresh, issued) ? answered(issued, 200) : undefined;
}

function mayHave({ resource, scope }: Refresh, issued: Issued): boolean {
  const scopes = issued.scope.split(" ");
  const isAsked = scope === undefined || scope.split(" ").some((one) => scopes.includes(one));
  return isAsked && (resource === undefined || resource === issued.resource);
}

function refusal(): Response {
  return answered(
    { error: "invalid_grant", error_description: "The refresh token was replaced before" },
    400,
  );
}

function answered(body: object, status: number): Response {
  return Response.json(body, { status, headers: { "Cache-Control": "no-store", Pragma: "no-cache" } });
}

/** Only who has the token, and the client's credentials, can read it. */
async function sealed(text: string, by: Pick<Refresh, "token" | "credentials">): Promise<string> {
  const plain = new TextEncoder().encode(text);
  const header = { alg: "dir", enc: "A256GCM" };
  return new CompactEncrypt(plain).setProtectedHeader(header).encrypt(await keyOf(by));
}

/** Undefined: another client sealed it. */
async function unsealed(
  text: string,
  by: Pick<Refresh, "token" | "credentials">,
): Promise<Issued | undefined> {
  const opened = await compactDecrypt(text, await keyOf(by)).catch(() => undefined);
  return opened && (JSON.parse(new TextDecoder().decode(opened.plaintext)) as Issued);
}

async function keyOf({ token, credentials }: Pick<Refresh, "token" | "credentials">): Promise<Uint8Array> {
  const text = JSON.stringify(["the answer to a refresh", token, credentials]);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}
