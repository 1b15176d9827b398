/** Masks secrets in what ledger, feed and record show of a call. */
import { LIMITS } from "./limits.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

const MASK = "[redacted]";

const RULES: readonly [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, MASK],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${MASK}`],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?/g, MASK],
  [/\b(?:gh[opsur]|github_pat|glpat|xox[abprs]|sk|rk|pk|npm|AKIA|ASIA|AIza)[-_]?[A-Za-z0-9_-]{16,}/g, MASK],
  [/(\w+:\/\/[^\s/:@]*:)[^\s/@]+@/g, `$1${MASK}@`],
  [
    /((?:pass(?:word|wd|phrase)?|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|authorization|cookie|credential)\w*["']?\s*[:=]\s*["']?)[^\s"',;]{3,}/gi,
    `$1${MASK}`,
  ],
  // A command-line option and the word after it.
  [
    /(--?(?:[a-z0-9]{1,20}[-_]){0,4}(?:pass(?:word|wd|phrase)?|secret|token|api[-_]?key|access[-_]?key|private[-_]?key)\s+["']?)(?!-)[^\s"']{3,}/gi,
    `$1${MASK}`,
  ],
];

/** What every rule needs somewhere. Most texts have nothing of it, and one look is far cheaper than all rules. */
const SUSPICIOUS =
  /pass|secret|token|key|authorization|cookie|credential|(?:bearer|basic)\s|eyJ|:\/\/|\b(?:gh[opsur]|github_pat|glpat|xox[abprs]|sk|rk|pk|npm|AKIA|ASIA|AIza)[-_]?[A-Za-z0-9_-]{16}/i;

const SECRET_NAME =
  /pass(?:word|wd|phrase)?|secret|token|api[-_]?key|private[-_]?key|authorization|cookie|credential/i;
/** How many parameters of a call are shown, and how much of each. */
const PARAMETERS_SHOWN = 16;
const PARAMETER_CHARS = 200;

/** The beginnings of a call's parameters, as text, for `inputPreview`. */
export function inputBeginnings(input: Record<string, unknown>): Record<string, string> {
  const shown = Object.entries(input).slice(0, PARAMETERS_SHOWN);
  return Object.fromEntries(
    shown.map(([name, value]) => [
      beginningOf(name, PARAMETER_CHARS),
      beginningOf(typeof value === "string" ? value : (JSON.stringify(value) ?? ""), PARAMETER_CHARS),
    ]),
  );
}

/** A call's parameters, shortened, with what looks like a secret masked. */
export function inputPreview(beginnings: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(beginnings).map(([name, text]) => [
      previewOf(name, PARAMETER_CHARS),
      SECRET_NAME.test(name) ? MASK : previewOf(text, PARAMETER_CHARS),
    ]),
  );
}

/** As much of a text as its preview depends on; if shortened, a copy, which does not keep the whole text in memory. */
export function beginningOf(text: string, chars: number = LIMITS.previewChars): string {
  if (text.length <= chars * 4) return text;
  return decoder.decode(encoder.encode(text.slice(0, chars * 4)));
}

/** The first characters of a text, with what looks like a secret masked. */
export function previewOf(text: string, chars: number = LIMITS.previewChars): string {
  // Redact more than is shown, so that a secret cut off at the end still matches.
  let shown = text.slice(0, chars * 4);
  if (SUSPICIOUS.test(shown)) for (const [pattern, mask] of RULES) shown = shown.replace(pattern, mask);
  return shown.slice(0, chars).toWellFormed();
}
