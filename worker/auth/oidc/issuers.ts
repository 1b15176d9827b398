/** The issuers that the owner configured. */
import { relayError } from "@matrx/shared/errors.ts";
import { type Issuer, IssuersFault, parseIssuers } from "@matrx/shared/oidc-issuers.ts";
import { logWarning } from "../../log.ts";

export interface OidcEnv {
  /** A list of issuers, as `docs/guides/sign-in.md` shows it. */
  OIDC_ISSUERS?: string | null;
  /** In the embedded relay: the way to issuers at private addresses. */
  LOCAL_NETWORK?: Fetcher;
}

/** The text is parsed once per isolate and value; a text that cannot be read is undefined. */
const known = new Map<string, Issuer[] | undefined>();

/** All issuers. Throws MatrxError `UNAVAILABLE` if the configuration cannot be read. */
export function issuersOf({ OIDC_ISSUERS: text }: OidcEnv): Issuer[] {
  if (!text) return [];
  if (!known.has(text)) {
    known.clear();
    known.set(text, read(text));
  }
  const issuers = known.get(text);
  if (issuers) return issuers;
  throw relayError("UNAVAILABLE", "OIDC_ISSUERS is not a list of issuers", {
    hint: "The relay's log says what is wrong with it",
  });
}

/** The issuer of this id. Throws MatrxError `NOT_FOUND`. */
export function issuerOf(env: OidcEnv, id: string): Issuer {
  const issuer = issuersOf(env).find((issuer) => issuer.id === id);
  if (issuer) return issuer;
  throw relayError("NOT_FOUND", "Nobody signs in here by an issuer of this name", {
    hint: "GET /v1/sign-in lists the issuers of this relay",
  });
}

function read(text: string): Issuer[] | undefined {
  try {
    return parseIssuers(text);
  } catch (fault) {
    if (!(fault instanceof IssuersFault)) throw fault;
    logWarning(`OIDC_ISSUERS is not a list of issuers: ${fault.message}`);
    return undefined;
  }
}
