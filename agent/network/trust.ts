/**
 * The certificate authorities that we trust: Node's own list and NODE_EXTRA_CA_CERTS, then also those of the system's store.
 * That store is read only when a certificate asks for it: reading takes a while.
 */
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";

const UNTRUSTED: ReadonlySet<unknown> = new Set([
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** Whether a certificate was refused because of who signed it; nothing was sent then. */
export function isUntrusted(error: unknown): boolean {
  return error instanceof Error && "code" in error && UNTRUSTED.has(error.code);
}

let withSystem: SecureContext | undefined;

/** The context that trusts the system's store as well, once a certificate needed it; until then Node's own will do. */
export function currentTrust(): SecureContext | undefined {
  return withSystem;
}

/** Trusts the system's store from now on. */
export function trustSystem(): void {
  withSystem ??= createSecureContext({
    ca: [...getCACertificates("default"), ...getCACertificates("system")],
  });
}
