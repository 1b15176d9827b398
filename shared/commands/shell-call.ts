/** What a shell runs that is called with some words. */
export interface ShellCall {
  /** The text after `-c`. */
  readonly text: string | undefined;
  /** Whether it runs nothing but that, read as it always is. */
  readonly isAll: boolean;
}

/** Options may stand between `-c` and its text, and take values of their own. */
export function shellCall(name: string, words: readonly string[]): ShellCall {
  let isAll = true;
  let hasText = false;
  let isEnded = false;
  let values = 0;
  for (const word of words) {
    if (values > 0) {
      values--;
      if (!/^(?:pipefail|errexit|nounset|xtrace|verbose)$/.test(word)) isAll = false;
    } else if (!isEnded && /^[-+]\w/.test(word)) {
      hasText ||= /^-\w*c/.test(word);
      values = word.match(/o/gi)?.length ?? 0;
      if (!isPlain(name, word)) isAll = false;
    } else if (!isEnded && hasText && /^--?$/.test(word)) {
      isEnded = true;
    } else {
      return { text: hasText ? word : undefined, isAll: isAll && hasText };
    }
  }
  return { text: undefined, isAll: false };
}

/** Some options change how bash reads; with `-s`, dash reads on from stdin. */
function isPlain(name: string, option: string): boolean {
  return /^[-+]\w+$/.test(option) && !(name.endsWith("bash") ? /[kH]/ : /s/).test(option);
}
