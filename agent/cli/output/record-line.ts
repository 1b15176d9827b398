/** An entry of the record, for people. */
import type { AuditEntry } from "@matrx/shared/audit.ts";
import { oneLine, styled } from "./print.ts";

const SHOWN_CHARS = 120;

/** One line: number, time, who, what. */
export function recordLine(entry: AuditEntry): string {
  const { seq, at, by, device } = entry;
  const who = by ? (by.name ?? by.grant) : "the relay";
  const where = device === undefined ? "" : `on ${device}`;
  const words = [String(seq).padStart(7), new Date(at).toLocaleString(), short(who), whatOf(entry), where];
  return words.filter((word) => word !== "").join("  ");
}

function whatOf(entry: AuditEntry): string {
  switch (entry.type) {
    case "call":
      return `${short(entry.tool ?? "a tool")} ${short(inputOf(entry.input))}: ${statusOf(entry)}`;
    case "denied": {
      const times = entry.times ? ` (${entry.times} times)` : "";
      return `${short(entry.tool ?? "")} ${styled("red", `refused: ${entry.code ?? ""}`)}${times}`;
    }
    case "approval":
      return `${entry.state}: ${short(entry.summary)}${entry.decided_by ? `, by ${short(entry.decided_by)}` : ""}`;
    case "grant":
      return `${entry.credential === "guest" ? "share" : "token"} ${short(entry.name)} ${entry.action}`;
    case "session":
      return `${entry.action === "signed_in" ? "signed in" : "signed out"}: ${short(entry.name)}${entry.how ? ` (${entry.how})` : ""}`;
    case "device":
      return `device ${short(entry.name)} ${entry.action}`;
    case "policy":
      return "set the device's policy";
    case "passkey":
      return `passkey ${short(entry.name)} ${entry.action}`;
    case "invite":
      return entry.action === "closed"
        ? `closed the account ${short(entry.account)} of ${short(entry.name)}`
        : `invite for ${short(entry.name)} ${entry.action}`;
    case "recovery_codes":
      return "made new recovery codes";
    case "pause":
      return entry.paused ? "stopped all that AI grants do" : "let AI grants act again";
    case "gap":
      return styled("yellow", `reads may be missing since ${new Date(entry.since).toLocaleString()}`);
    case "pruned":
      return `deleted the entries up to ${entry.until}, as old as they were`;
  }
}

function statusOf({ status, code, exit }: Extract<AuditEntry, { type: "call" }>): string {
  if (status === "success") return exit ? `done, exit code ${exit}` : "done";
  return styled("yellow", code ? `${status} (${code})` : status);
}

function inputOf(input: Record<string, string> = {}): string {
  return Object.entries(input)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(" ");
}

function short(text: string): string {
  const line = oneLine(text);
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS - 1).toWellFormed()}…` : line;
}
