/** The error codes of every surface, and the one table of their status, title and exit code. */

/** Where an error arose: the first hop at which the call could not continue. */
export const HOPS = ["caller", "relay", "device", "agent", "tool"] as const;
export type Hop = (typeof HOPS)[number];

interface ErrorInfo {
  /** HTTP status of problem+json (RFC 9457). */
  readonly status: number;
  /** The problem's title. */
  readonly title: string;
  /** Exit code of the command line (sysexits where one fits). */
  readonly exit: number;
}

const ERRORS = {
  INVALID_MESSAGE: { status: 400, title: "Unreadable message", exit: 65 },
  INVALID_PARAMETERS: { status: 400, title: "Invalid parameter", exit: 64 },
  UNAUTHENTICATED: { status: 401, title: "Sign in, or send a valid token", exit: 77 },
  PERMISSION_DENIED: { status: 403, title: "Not allowed", exit: 77 },
  APPROVAL_DENIED: { status: 403, title: "Not allowed by the owner", exit: 77 },
  APPROVAL_EXPIRED: { status: 403, title: "No decision in time", exit: 75 },
  UNKNOWN_DEVICE: { status: 404, title: "No such device", exit: 68 },
  TOOL_NOT_FOUND: { status: 404, title: "No such tool", exit: 64 },
  NOT_FOUND: { status: 404, title: "Not found", exit: 66 },
  METHOD_NOT_ALLOWED: { status: 405, title: "Method not allowed", exit: 64 },
  CONFLICT: { status: 409, title: "Conflict", exit: 65 },
  PAYLOAD_TOO_LARGE: { status: 413, title: "Too large", exit: 65 },
  RATE_LIMITED: { status: 429, title: "Too many requests", exit: 75 },
  CANCELLED: { status: 499, title: "Cancelled", exit: 130 },
  TOOL_EXECUTION_FAILED: { status: 422, title: "The tool failed", exit: 1 },
  OUTCOME_UNKNOWN: { status: 502, title: "Outcome unknown", exit: 75 },
  INVALID_ANSWER: { status: 502, title: "Unusable answer from the device", exit: 76 },
  DEVICE_OFFLINE: { status: 503, title: "The device is offline", exit: 69 },
  UNAVAILABLE: { status: 503, title: "Temporarily unavailable", exit: 69 },
  INTERNAL: { status: 500, title: "Internal error", exit: 70 },
  TIMEOUT: { status: 504, title: "Timed out", exit: 124 },
} as const satisfies Record<string, ErrorInfo>;

export type ErrorCode = keyof typeof ERRORS;

export const ERROR_CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];

/** Status, title and exit code of an error code. */
export function errorInfo(code: ErrorCode): ErrorInfo {
  return ERRORS[code];
}

/** Whether a string from outside is one of our codes. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === "string" && Object.hasOwn(ERRORS, code);
}

/** What every error carries, on any surface. */
export interface ErrorShape {
  code: ErrorCode;
  message: string;
  /** What to do about it. */
  hint?: string | undefined;
  hop: Hop;
  /** Facts for programs: the field, the choices, the limit. */
  details?: Record<string, unknown> | undefined;
}

/** An error that may leave the process: message and hint are written for users. */
export class MatrxError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly hop: Hop;
  readonly details: Record<string, unknown> | undefined;

  constructor(shape: ErrorShape, cause?: unknown) {
    super(shape.message, { cause });
    this.name = "MatrxError";
    this.code = shape.code;
    this.hint = shape.hint;
    this.hop = shape.hop;
    this.details = shape.details;
  }

  shape(): ErrorShape {
    const { code, message, hint, hop, details } = this;
    return { code, message, hop, ...(hint && { hint }), ...(details && { details }) };
  }
}

/** The details of an error, for codes that define them. */
interface DetailsOf {
  METHOD_NOT_ALLOWED: { allow: readonly string[] };
  /** `retry_after_ms`: a request made after so many milliseconds is not too early. Absent where nobody knows. */
  RATE_LIMITED: { retry_after_ms?: number; [fact: string]: unknown };
  /** `no_credential`: the request came without one, so none is wrong (RFC 6750, 3.1). */
  UNAUTHENTICATED: { reason?: "no_credential"; [fact: string]: unknown };
}

interface Besides<Code> {
  /** What to do about it. */
  hint?: string | undefined;
  details?: (Code extends keyof DetailsOf ? DetailsOf[Code] : Record<string, unknown>) | undefined;
  cause?: unknown;
}

/** Makes errors of one hop. */
function errorsFor(hop: Hop) {
  return <Code extends ErrorCode>(code: Code, message: string, besides: Besides<Code> = {}): MatrxError => {
    const { hint, details, cause } = besides;
    return new MatrxError({ code, message, hint, hop, details: details && { ...details } }, cause);
  };
}

export const callerError = errorsFor("caller");
export const relayError = errorsFor("relay");
export const deviceError = errorsFor("device");
export const agentError = errorsFor("agent");
export const toolError = errorsFor("tool");

/**
 * The public shape of any thrown value. Unexpected errors become `INTERNAL` with an incident number, so that no internals
 * leak; the caller of this function logs them under the same number.
 */
export function shapeOf(error: unknown, hop: Hop, incident: string): ErrorShape {
  if (error instanceof MatrxError) return error.shape();
  return {
    code: "INTERNAL",
    message: "Something went wrong on our side",
    hint: `Try again; if it keeps happening, search the log for incident ${incident}`,
    hop,
    details: { incident },
  };
}

/** The `Allow` header of a 405 (RFC 9110, 15.5.6); undefined for other errors. */
export function allowHeaderOf({ code, details }: ErrorShape): string | undefined {
  const allow = code === "METHOD_NOT_ALLOWED" ? details?.allow : undefined;
  return Array.isArray(allow) ? allow.join(", ") : undefined;
}

/** The `WWW-Authenticate` header of a 401 (RFC 6750, 3): a request without a credential is told no error. */
export function challengeOf({ code, details }: ErrorShape): string | undefined {
  if (code !== "UNAUTHENTICATED") return undefined;
  const challenge = 'Bearer realm="matrx"';
  return details?.reason === "no_credential" ? challenge : `${challenge}, error="invalid_token"`;
}

/** Problem details (RFC 9457) of an error. */
export function problemOf(shape: ErrorShape) {
  const { status, title } = errorInfo(shape.code);
  return {
    type: `urn:matrx:error:${shape.code}`,
    title,
    status,
    detail: shape.message,
    code: shape.code,
    hint: shape.hint,
    hop: shape.hop,
    ...shape.details,
  };
}
