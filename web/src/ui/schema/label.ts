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

function readableWord(word: string): string {
  const lower = word.toLowerCase();
  if (CAPITALS.has(lower)) return lower.toUpperCase();
  if (lower === "sha256") return "SHA-256";
  return word === word.toUpperCase() ? word : lower;
}
