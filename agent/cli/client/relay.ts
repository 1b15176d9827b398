/** The relay as this machine reaches it. */
import { RelayClient } from "@matrx/client/http/relay-client.ts";
import { fetchElsewhere } from "../../network/fetch.ts";
import { hintOf, reasonOf } from "../../relay/close-reasons.ts";

/** `token`: absent for what needs none; `signInHint` says what to do if the relay does not accept it. */
export function relayAt(relay: string, token?: string | (() => string), signInHint?: string): RelayClient {
  return new RelayClient({
    ...{ relay, signInHint, explain },
    token: typeof token === "string" ? () => token : token,
    fetch: fetchElsewhere,
  });
}

function explain(cause: unknown) {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  return { why: inner instanceof Error ? reasonOf(inner) : "unknown", hint: hintOf(inner) };
}
