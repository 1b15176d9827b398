/** Names of fields as people read them. */

const CAPITALS = new Set([
  "id",
  "url",
  "uri",
  "pid",
  "json",
  "html",
  "pdf",
  "ip",
  "cpu",
  "http",
  "sql",
  "api",
]);
const UNITS: ReadonlyMap<string, string> = new Map([
  ["ms", "milliseconds"],
  ["bytes", "bytes"],
  ["seconds", "seconds"],
]);

/** `yield_ms` is "Yield (milliseconds)", `runInBackground` is "Run in background". */
export function readableName(name: string): string {
  const words = name
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .split(/[\s_.-]+/)
    .filter(Boolean);
  const unit = words.length > 1 ? UNITS.get(words.at(-1)?.toLowerCase() ?? "") : undefined;
  const said = (unit ? words.slice(0, -1) : words).map(readableWord).join(" ");
  if (!said) return name;
  return said.charAt(0).toUpperCase() + said.slice(1) + (unit ? ` (${unit})` : "");
}

/** Whether a field's name as the tool has it is its label in other letters, such as `file_path` and "File path". */
export function isSameName(label: string, name: string): boolean {
  return plain(label) === plain(name);
}

/** Whether a help has a word that the label lacks: "The command" says nothing more than "Command". */
export function saysMore(label: string, help: string): boolean {
  const said = new Set(wordsIn(label));
  return wordsIn(help).some((word) => !said.has(word) && !FILLERS.has(word));
}

const FILLERS = new Set(["a", "an", "the", "of", "to", "its"]);

function plain(text: string): string {
  return text.toLowerCase().replace(/[\s_.-]+/g, "");
}

function wordsIn(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function readableWord(word: string): string {
  const lower = word.toLowerCase();
  if (CAPITALS.has(lower)) return lower.toUpperCase();
  if (lower === "sha256") return "SHA-256";
  return word === word.toUpperCase() ? word : lower;
}
