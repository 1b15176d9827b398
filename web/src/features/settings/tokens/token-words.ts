/** What a token is and may do, in words. */
import type { Tone } from "../../../ui/Status.tsx";
import type { Token } from "./queries.ts";

/** Sooner than this, its end is worth a warning, in milliseconds. */
const SOON = 7 * 24 * 60 * 60_000;

export function kindOf({ credential, client }: Token): string {
  if (client) return client.host ? `AI app of ${client.host}` : "AI app, not verified";
  return credential === "script" ? "Own script: acts as you" : "AI token";
}

export function toneOf({ credential, client }: Token): Tone {
  if (credential === "script" || (client && !client.host)) return "warn";
  return "info";
}

/** A summary of the relay's as a sentence. Its end is told elsewhere. */
export function sentenceOf({ summary = "" }: { readonly summary?: string | undefined }): string {
  const text = summary.replace(/; expires [\d-]+$/, "");
  return text === "" ? "" : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

export function endsSoon({ expires }: Pick<Token, "expires">, now = Date.now()): boolean {
  return Date.parse(expires) - now < SOON;
}
