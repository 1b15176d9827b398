/** Which of a call's parameters tell what it was about: what is named first, how it is done last. */

const NAMING = ["command", "path", "file_path", "source", "url", "pattern", "query", "name", "text"];
const HOW =
  /^(?:after|limit|offset|length|lines|depth|timeout|recursive|show_.*|max_.*|min_.*|.*_ms|.*_limit|(?:before|after)_lines)$/;
const PLAIN = /^(?:true|false|null|-?\d+(?:\.\d+)?)$/;

/** The parameters, the most telling first. */
export function inTellingOrder(input: Readonly<Record<string, string>>): (readonly [string, string])[] {
  return Object.entries(input).sort((one, other) => rankOf(one) - rankOf(other));
}

/** What the call was about; undefined: no parameter tells. */
export function tellingOf(input: Readonly<Record<string, string>>): string | undefined {
  const [first] = inTellingOrder(input);
  if (!first || HOW.test(first[0])) return undefined;
  const [name, value] = first;
  return PLAIN.test(value) ? `${name}: ${value}` : value;
}

function rankOf([name, value]: readonly [string, string]): number {
  const at = NAMING.indexOf(name);
  if (at >= 0) return at;
  if (HOW.test(name)) return NAMING.length + 2;
  return NAMING.length + (PLAIN.test(value) ? 1 : 0);
}
