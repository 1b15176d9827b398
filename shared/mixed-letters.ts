/** Words with letters of several scripts, which only look like other words. */

/** Scripts whose letters look like each other's. */
const SCRIPTS: readonly [string, RegExp][] = [
  ["Latin", /\p{Script=Latin}/u],
  ["Cyrillic", /\p{Script=Cyrillic}/u],
  ["Greek", /\p{Script=Greek}/u],
  ["Armenian", /\p{Script=Armenian}/u],
  ["Cherokee", /\p{Script=Cherokee}/u],
];
const WORDS = /[\p{L}\p{M}\p{N}_]+/gu;
const ASCII = /^\p{ASCII}*$/u;

export function mixedWords(text: string): string[] {
  return (text.match(WORDS) ?? []).filter((word) => !ASCII.test(word) && scriptsOf(word).length > 1);
}

/** For people: the word, and how its letters are written out. */
export function mixedWarning(word: string): string {
  const written = word.replace(/[^\p{ASCII}]/gu, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);
  return `The word "${word}" mixes ${scriptsOf(word).join(" and ")} letters: ${written}`;
}

function scriptsOf(word: string): string[] {
  return SCRIPTS.filter(([, letters]) => letters.test(word)).map(([name]) => name);
}
