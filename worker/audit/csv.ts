/** Lines of CSV (RFC 4180) that a spreadsheet shows and never runs. */

/** What a spreadsheet takes for the beginning of a formula, also after white space. */
const FORMULA = /^[\s\p{Cc}]*[=+\-@＝＋－＠]/u;

export function csvLine(values: readonly unknown[]): string {
  return `${values.map(cell).join(",")}\r\n`;
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "number") return String(value);
  const text = String(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
