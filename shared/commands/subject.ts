/** What a call is about, as rules are matched with it: a text, some of which may only be known when it runs. */

/** In a subject: any text, none included. No path and no command contains it. */
export const ANYTHING = "\0";

/**
 * Whether a subject fits a pattern, in which `*` stands for any characters and `?` for one. What is not known may be what the
 * pattern wants. A `*` in front stands for known text only: else a rule such as `*sudo*` would fit whatever has a variable.
 */
export function mayFit(pattern: string, subject: string): boolean {
  if (!subject.includes(ANYTHING)) return fitsWildcard(pattern, subject);
  const begun = pattern.replace(/^\*+/, "");
  return overlaps(begun, subject) || (begun !== pattern && fitsWildcard(pattern, subject));
}

/** `*` stands for any characters, line breaks and slashes included, `?` for one. Linear in the text for each star. */
export function fitsWildcard(pattern: string, text: string): boolean {
  let at = 0;
  let sign = 0;
  let star = -1;
  let after = 0;
  while (at < text.length) {
    if (pattern[sign] === "*") {
      star = sign++;
      after = at;
    } else if (pattern[sign] === "?" || pattern[sign] === text[at]) {
      sign++;
      at++;
    } else if (star >= 0) {
      sign = star + 1;
      at = ++after;
    } else return false;
  }
  while (pattern[sign] === "*") sign++;
  return sign === pattern.length;
}

/** Whether one text fits both. Linear in the subject for each character of the pattern. */
function overlaps(pattern: string, subject: string): boolean {
  let reached = beyondStars(pattern, [0]);
  for (const char of subject) {
    const first = reached[0];
    if (first === undefined) return false;
    reached =
      char === ANYTHING
        ? Array.from({ length: pattern.length + 1 - first }, (_, further) => first + further)
        : beyondStars(
            pattern,
            reached.flatMap((sign) => after(pattern, sign, char)),
          );
  }
  return reached.at(-1) === pattern.length;
}

function after(pattern: string, sign: number, char: string): number[] {
  if (pattern[sign] === "*") return [sign];
  return pattern[sign] === "?" || pattern[sign] === char ? [sign + 1] : [];
}

/** The same places of the pattern in ascending order, and those behind each star. */
function beyondStars(pattern: string, signs: readonly number[]): number[] {
  const all = new Set<number>();
  for (let sign of signs) {
    all.add(sign);
    while (pattern[sign] === "*") all.add(++sign);
  }
  return [...all].sort((a, b) => a - b);
}
