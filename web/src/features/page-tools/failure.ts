/** Why a page tool did not do what it was asked for, as an AI or a script is told. */
import { ApiError } from "../../relay/api-error.ts";

interface Reason {
  readonly code: string;
  /** What to do about it. */
  readonly hint?: string | undefined;
}

export class PageToolError extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(message: string, { code, hint = "" }: Reason) {
    super(message);
    this.name = "PageToolError";
    this.code = code;
    this.hint = hint;
  }
}

export function invalid(message: string, hint = "See the tool's input schema"): PageToolError {
  return new PageToolError(message, { code: "INVALID_PARAMETERS", hint });
}

export function denied(message: string, hint: string): PageToolError {
  return new PageToolError(message, { code: "APPROVAL_DENIED", hint });
}

export function expired(): PageToolError {
  return new PageToolError("The person did not answer in time", {
    code: "APPROVAL_EXPIRED",
    hint: "Ask them to look at this page, then try again",
  });
}

export function cancelled(
  message: string,
  hint = "It may have begun: look before you repeat it",
): PageToolError {
  return new PageToolError(message, { code: "CANCELLED", hint });
}

export function conflict(message: string, hint: string): PageToolError {
  return new PageToolError(message, { code: "CONFLICT", hint });
}

export function tooMuch(message: string, hint: string): PageToolError {
  return new PageToolError(message, { code: "PAYLOAD_TOO_LARGE", hint });
}

export function timedOut(message: string): PageToolError {
  return new PageToolError(message, {
    code: "TIMEOUT",
    hint: "It may have begun: look before you repeat it",
  });
}

/** Of whatever was thrown. */
export function failureOf(error: unknown): PageToolError {
  if (error instanceof PageToolError) return error;
  if (error instanceof ApiError) return ofApi(error);
  if (error instanceof DOMException && error.name === "AbortError") return cancelled("It was cancelled");
  const message = error instanceof Error ? error.message : String(error);
  return new PageToolError(message, { code: "TOOL_EXECUTION_FAILED" });
}

/** What the machine's own tools are called here: its hints name them. */
const NAMES_HERE: Readonly<Record<string, string>> = {
  ListDirectory: "file_list",
  Read: "file_read",
  search_files: "file_find",
  TerminalClose: "terminal_close",
  TerminalCreate: "terminal_create",
  TerminalExecute: "terminal_execute",
  TerminalList: "terminal_list",
};

function hintHere(hint: string | undefined): string | undefined {
  return hint?.replace(/\b\w+\b/g, (word) => (Object.hasOwn(NAMES_HERE, word) && NAMES_HERE[word]) || word);
}

function ofApi({ status, code, message, hint }: ApiError): PageToolError {
  const isSignedOut = status === 401;
  return new PageToolError(message, {
    code: code ?? (isSignedOut ? "UNAUTHENTICATED" : status === 0 ? "UNAVAILABLE" : "TOOL_EXECUTION_FAILED"),
    hint: isSignedOut ? "Ask the person to sign in again in this page" : hintHere(hint),
  });
}
