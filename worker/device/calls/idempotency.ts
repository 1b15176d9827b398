/** Same idempotency key, same outcome: within one grant on one device, for 24 hours. */
import { relayError } from "@matrx/shared/errors.ts";
import { hexOf } from "@matrx/shared/ids.ts";
import { sha256 } from "@noble/hashes/sha2.js";
import canonicalize from "canonicalize";

/**
 * What a key stands for: SHA-256 of the tool and the canonical input (RFC 8785). Synchronous, unlike WebCrypto, so that
 * calls keep their order.
 */
export function digestOf(tool: string, input: string): string {
  // The name `parameters` must stay: digests outlive this program, here and in the agent's journal.
  return hexOf(sha256(new TextEncoder().encode(canonicalOf({ tool, parameters: JSON.parse(input) }))));
}

/** Throws MatrxError `INVALID_PARAMETERS` for a lone surrogate, or a number that is too large. */
function canonicalOf(value: unknown): string {
  try {
    return canonicalize(value) ?? "";
  } catch (cause) {
    throw relayError(
      "INVALID_PARAMETERS",
      "input: contains half a surrogate pair or too large a number, so it can't be used with an idempotency key or your own name",
      {
        hint: "Send the call without the key or name, or without that value",
        details: { field: "input" },
        cause,
      },
    );
  }
}

/** Throws MatrxError `CONFLICT` if a key is reused for a different call. */
export function requireSameCall(row: { digest: string | null; call: string }, digest: string): void {
  if (row.digest === digest) return;
  throw relayError("CONFLICT", "This idempotency key was used for another call", {
    hint: "Use a new key for each new call; a key belongs to its call for 24 hours",
    details: { call: row.call },
  });
}
