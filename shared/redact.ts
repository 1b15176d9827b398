/** Masks secrets in what ledger, feed and record show of a call. */
import { type BuiltInTool, toolNameOf } from "./effects.ts";
import { LIMITS } from "./limits.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

const MASK = "[redacted]";

/** What a secret is called. */
const NAMED = String.raw`(?:pass(?:word|wd|phrase|code)?|[a-z]_pwd|secret|token|(?:api|access|private|account|secret)[-_]?key|credential|signature|\bsig)`;
/** A value in quotes, which may be escaped, as in JSON within JSON; or a word, with escaped blanks in it. */
const VALUE = String.raw`(?:(\\*["'])(?:(?!\3)(?:\\.|[^\\]))*(?:\3|\\?$)|(?:\\.|[^\s"',;&\\]){3,})`;

/** Programs that read a password from stdin, and what makes others do so. */
const READERS = "(?:chpasswd|passwd|smbpasswd|cryptsetup|kinit|su|ssh-add)";
const FROM_STDIN = String.raw`--(?:[a-z]+(?:-stdin|-fd[ =]0)|with-token)\b`;
const SUDO = String.raw`\bsudo\s[^|;&\r\n]{0,100}?(?<=\s)(?:-[A-Za-z]*S|--stdin)\b`;
const READS_PASSWORD = String.raw`(?:(?:\w+=\S*\s+|sudo\s+(?:-\S+\s+)*|[^\s/]*/)*(?:${READERS}\b|${SUDO})|[^|;&\r\n]{0,200}?\s${FROM_STDIN})`;
const AFTER_READER = String.raw`(?<=(?:\b${READERS}\b|${SUDO}|\s${FROM_STDIN})[^|;&\r\n]{0,200})`;

const RULES: readonly [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, MASK],
  // A header's whole value: a scheme, then the secret; or several cookies.
  [/((?:authorization|cookie)\w*\\*["']?\s*[:=]\s*\\*["']?)(?!\[redacted\])[^\r\n"'\\]{3,}/gi, `$1${MASK}`],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${MASK}`],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?/g, MASK],
  [
    /\b(?:gh[opsur]|github_pat|glpat|xox[abprs]|sk|rk|pk|npm|pypi|shpat|hf|dop_v1|hvs\.|SG\.|AKIA|ASIA|AIza|AGE-SECRET-KEY)[-_]?[A-Za-z0-9._-]{16,}/g,
    MASK,
  ],
  // A Telegram bot's token, a Slack webhook, and a recovery code of this relay.
  [/\b\d{8,10}:AA[A-Za-z0-9_-]{30,}/g, MASK],
  [/(hooks\.slack\.com\/services\/)[\w/-]+/gi, `$1${MASK}`],
  [/\b[a-z0-9_-]{1,64}\.(?:[0-9A-Z]{4}-){3}[0-9A-Z]{4}\b/g, MASK],
  [/(\w+:\/\/[^\s/:@]*:)[^\s/]+@/g, `$1${MASK}@`],
  [/(\w+:\/\/)[^\s/:@]{16,}@/g, `$1${MASK}@`],
  [new RegExp(String.raw`(${NAMED}\w*\\*["']?\s*[:=]\s*)()${VALUE}`, "gi"), `$1${MASK}`],
  // A command-line option and the word after it.
  [new RegExp(String.raw`(--?(?:[a-z0-9]{1,20}[-_]){0,4}${NAMED}\s+)()(?!-)${VALUE}`, "gi"), `$1${MASK}`],
  [/(\s(?:-u|--user)[\s=]+["']?[^\s:"']{1,64}:)[^\s"']+/g, `$1${MASK}`],
  [
    /(\b(?:sshpass|mysql\w*|mariadb\w*|docker login|podman login)\b[^\n|;&]{0,200}?\s-p\s?)[^\s"'-][^\s"']*/g,
    `$1${MASK}`,
  ],
  // What is piped or handed to a program that reads a password there.
  [
    new RegExp(
      String.raw`(\b(?:echo|printf)\s+(?:-[a-zA-Z]+\s+|--\s+)*)(?!\[redacted\])[^|\r\n]{1,400}?(\s*\|\s*${READS_PASSWORD})`,
      "g",
    ),
    `$1${MASK}$2`,
  ],
  [new RegExp(String.raw`${AFTER_READER}(<<<\s*)()${VALUE}`, "g"), `$1${MASK}`],
  [/(\bredis-cli\b[^\n|;&]{0,200}?\s-a\s+)[^\s"']+/g, `$1${MASK}`],
  [/(\blogin\s+\S{1,64}\s+password\s+)\S+/gi, `$1${MASK}`],
];

/** What every rule needs somewhere. Most texts have nothing of it, and one look is far cheaper than all rules. */
const SUSPICIOUS =
  /pass|_pwd|secret|sudo|stdin|-fd|cryptsetup|kinit|\bsu\b|ssh-add|token|key|authorization|cookie|credential|sig(?:nature)?\b|(?:bearer|basic)\s|eyJ|:\/\/|:AA|hooks\.|[0-9A-Z]{4}-[0-9A-Z]{4}-|\s-u\s|--user|\s-a\s|\s-p|\b(?:gh[opsur]|github_pat|glpat|xox[abprs]|sk|rk|pk|npm|pypi|shpat|hf|dop_v1|hvs|SG|AKIA|ASIA|AIza)[-_.]?[A-Za-z0-9._-]{16}/i;

const SECRET_NAME =
  /pass(?:word|wd|phrase)?|secret|token|api[-_]?key|private[-_]?key|authorization|cookie|credential/i;
/** How many parameters of a call are shown, and how much of each. */
const PARAMETERS_SHOWN = 16;
const PARAMETER_CHARS = 200;

/** What is typed, copied or piped may be a password without looking like one. */
const SECRET_PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  Bash: ["stdin_base64"],
  ClipboardWrite: ["text"],
  FetchPort: ["secret"],
  TerminalInput: ["text", "keys"],
} satisfies Partial<Record<BuiltInTool, readonly string[]>>;

/** Tools whose output shows what was typed. That of ClipboardRead tells only how long the text is. */
const SECRET_ANSWERS: ReadonlySet<string> = new Set<BuiltInTool>(["TerminalInput"]);
/** Tools whose questions say what would be typed or copied. */
const SECRET_QUESTIONS: ReadonlySet<string> = new Set<BuiltInTool>(["ClipboardWrite", "TerminalInput"]);

/** The beginnings of a call's parameters, as text, for `inputPreview`. */
export function inputBeginnings(tool: string, input: Record<string, unknown>): Record<string, string> {
  const secret = SECRET_PARAMETERS[toolNameOf(tool)] ?? [];
  const shown = Object.entries(input).slice(0, PARAMETERS_SHOWN);
  return Object.fromEntries(
    shown.map(([name, value]) => [
      beginningOf(name, PARAMETER_CHARS),
      secret.includes(name)
        ? MASK
        : beginningOf(typeof value === "string" ? value : (JSON.stringify(value) ?? ""), PARAMETER_CHARS),
    ]),
  );
}

/** The first characters of what a call answered, without secrets. */
export function answerPreview(tool: string | undefined, text: string): string {
  return tool !== undefined && SECRET_ANSWERS.has(toolNameOf(tool)) ? MASK : previewOf(text);
}

/** The first characters of the question about a call, without secrets. */
export function questionPreview(tool: string, summary: string): string {
  const name = toolNameOf(tool);
  return SECRET_QUESTIONS.has(name) ? `${name}: ${MASK}` : previewOf(summary);
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
