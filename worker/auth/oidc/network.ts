/** The way to an issuer: the internet, or the local network for one that is configured so; within limits of size and time. */
import type { Issuer } from "@matrx/shared/oidc-issuers.ts";
import type { OidcEnv } from "./issuers.ts";

/** An issuer answers within this time, in milliseconds. */
const ANSWERS_WITHIN = 10_000;
/** Metadata, keys and tokens are some kilobytes. */
const ANSWER_BYTES = 1024 * 1024;

/** Requests to one issuer; each is given up after a while. */
export function networkOf({ LOCAL_NETWORK }: OidcEnv, { local }: Issuer) {
  const network = (local && LOCAL_NETWORK) || globalThis;
  return {
    signal: () => AbortSignal.timeout(ANSWERS_WITHIN),
    fetch: async (url: string, init: RequestInit) => bounded(await network.fetch(url, init)),
  };
}

/** The response with its whole body. Throws Error if that is too long. */
async function bounded({ body, status, headers }: Response): Promise<Response> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.byteLength;
    if (bytes > ANSWER_BYTES) throw new Error(`it answered more than ${ANSWER_BYTES} bytes`);
    parts.push(part);
  }
  return new Response(await new Blob(parts).arrayBuffer(), { status, headers });
}
