/** When the relay says no: which answers are final, in plain words. */
import { type ErrorCode, MatrxError } from "@matrx/shared/errors.ts";

interface Refusal {
  code: ErrorCode;
  message: string;
  hint: string;
}

const REPLACED: Refusal = {
  code: "CONFLICT",
  message: "Another agent connected as this device, so this one stops",
  hint: "Stop the other agent first, or pair this machine as its own device: matrx pair --replace",
};

const BAD_CREDENTIALS: Refusal = {
  code: "UNAUTHENTICATED",
  message: "The relay didn't accept this device's key",
  hint: "Pair this machine again: matrx pair --replace",
};

const REVOKED: Refusal = {
  code: "PERMISSION_DENIED",
  message: "The owner revoked this device",
  hint: "To connect again, pair this machine again: matrx pair --replace",
};

const UNKNOWN: Refusal = {
  code: "UNKNOWN_DEVICE",
  message: "The relay doesn't know this device",
  hint: "Check the relay's address in config.json, or pair this machine again: matrx pair --replace --relay https://your-relay",
};

const CLOSE_CODES: ReadonlyMap<number, Refusal> = new Map([
  [4000, REPLACED],
  [4401, BAD_CREDENTIALS],
  [4403, REVOKED],
  [4404, UNKNOWN],
]);

const STATUSES: ReadonlyMap<number, Refusal> = new Map([
  [401, BAD_CREDENTIALS],
  [403, REVOKED],
  [404, UNKNOWN],
]);

/** Why a close code is final, or undefined if dialling again may help. */
export function refusalOfClose(code: number, said?: string): MatrxError | undefined {
  return finalError(CLOSE_CODES.get(code), said);
}

/** Why an HTTP answer to the upgrade is final, or undefined if dialling again may help. */
export function refusalOfStatus(status: number, said?: string): MatrxError | undefined {
  return finalError(STATUSES.get(status), said);
}

/** A transport error in words. */
export function lostBecause(error: Error): string {
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  switch (code) {
    case "ECONNREFUSED":
      return "Nothing is listening at the relay's address (ECONNREFUSED)";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `Can't resolve the relay's host name (${code})`;
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
      return `The server there doesn't speak TLS: use http:// if it is on this machine (${code})`;
    default:
      return code && !error.message.includes(code)
        ? `${error.message} (${code})`
        : error.message || "The connection failed";
  }
}

function finalError(refusal: Refusal | undefined, said: string | undefined): MatrxError | undefined {
  if (!refusal) return undefined;
  const details = said ? { relay_said: said } : undefined;
  return new MatrxError({ ...refusal, hop: "relay", details });
}
