/** Refusals that several modules give. */
import { type ErrorShape, type MatrxError, relayError } from "@matrx/shared/errors.ts";

export function unknownDeviceError(id: string): MatrxError {
  return relayError("UNKNOWN_DEVICE", `There is no device ${id.slice(0, 64)}`, {
    hint: "GET /v1/devices lists yours; `matrx up` adds this machine",
  });
}

/** The outcome of a call is unknown; the error tells its caller where to look. */
export function outcomeUnknown(device: string, call: string, message: string): ErrorShape {
  const url = `/v1/devices/${device}/calls/${call}`;
  const hint = `It may have run. Before you send it again, check GET ${url}`;
  return { code: "OUTCOME_UNKNOWN", message, hint, hop: "relay", details: { url } };
}

/** An account has as many as it can. */
export function tooManyError(what: string, limit: number): MatrxError {
  return relayError("RATE_LIMITED", `An account can have at most ${limit} ${what}`, {
    hint: "Remove some first",
    details: { limit },
  });
}

/** The account has no grant of this name. */
export function noSuchTokenError(): MatrxError {
  return relayError("NOT_FOUND", "No such token", { hint: "GET /v1/tokens lists them" });
}
