/** What a lost connection means. Only the relay's answer to a registration that it checked is final; otherwise we reconnect. */
import { CLOSE } from "@matrx/shared/close-codes.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { isUntrusted } from "../network/trust.ts";
import { ProxyError } from "../network/tunnel.ts";

/** Why a connection is lost for good, or undefined if reconnecting may help. */
export function finalCloseError(closeCode: number, said: string): MatrxError | undefined {
  switch (closeCode) {
    case CLOSE.replaced:
      return finalNo(
        {
          code: "CONFLICT",
          message: "Another agent connected as this device, so this one stops",
          hint: "Stop the other agent first, or pair this machine as its own device: matrx pair --replace --name NAME",
        },
        said,
      );
    case CLOSE.revoked:
      return finalNo(
        {
          code: "PERMISSION_DENIED",
          message: "The owner removed this device",
          hint: "To connect this machine again, pair it again: matrx pair --replace",
        },
        said,
      );
    default:
      return undefined;
  }
}

/** The error when the relay checked and refused the registration, which is final. */
export function keyRefusedError(said: string): MatrxError {
  return finalNo(
    {
      code: "UNAUTHENTICATED",
      message: "The relay didn't accept this device's key",
      hint: "Pair this machine again: matrx pair --replace",
    },
    said,
  );
}

/** An HTTP response to the upgrade. It precedes any registration, so it is never final. */
export interface UpgradeAnswer {
  readonly status: number;
  /** `type` and `detail`, if the body is problem+json. */
  readonly type?: string | undefined;
  readonly detail?: string | undefined;
}

/** Whether the relay does not know the device at present: it was removed, or the relay's data is lost until restored. */
export function isUnknownDevice({ status, type }: UpgradeAnswer): boolean {
  return status === 404 && type === "urn:matrx:error:UNKNOWN_DEVICE";
}

/** Describes a response to the upgrade. */
export function upgradeRefused(answer: UpgradeAnswer): string {
  if (isUnknownDevice(answer)) {
    return "The relay doesn't know this device: it was removed, or the relay's data is gone. To pair it again: matrx pair --replace";
  }
  const { status, type, detail } = answer;
  if (type) return `The relay answered ${status}: ${detail ?? "no reason given"}`;
  return `The answer was ${status}, but not from the relay: something in between is answering instead`;
}

/** Describes a transport error, and says what to do where only this machine can tell. */
export function lostBecause(error: Error): string {
  const hint = hintOf(error);
  return hint === undefined ? reasonOf(error) : `${reasonOf(error)}. ${hint}`;
}

/** What to do about a transport error that something on this machine causes. */
export function hintOf(error: unknown): string | undefined {
  if (error instanceof MatrxError) return error.hint;
  if (error instanceof ProxyError) return "Check HTTPS_PROXY; NO_PROXY lists the hosts that need no proxy";
  if (!isUntrusted(error)) return undefined;
  return "If its certificate authority is your own, add it to the system's store, or set NODE_EXTRA_CA_CERTS to its file";
}

/** Describes a transport error. */
export function reasonOf(error: Error): string {
  if (error instanceof MatrxError || error instanceof ProxyError) return error.message;
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  if (isUntrusted(error))
    return `This machine doesn't trust the authority that signed the certificate there (${code})`;
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

function finalNo(
  refusal: { code: "CONFLICT" | "PERMISSION_DENIED" | "UNAUTHENTICATED"; message: string; hint: string },
  said: string,
): MatrxError {
  return new MatrxError({ ...refusal, hop: "relay", ...(said && { details: { relay_said: said } }) });
}
