/** The commands that a program starts, as far as its words name them. */
import { STARTING_SHELLS, STARTING_WORDS, TEXT_OPTIONS, TEXT_STARTERS, WITH_OPERAND } from "./starters.ts";
import { ANYTHING } from "./subject.ts";

/** A command that a starter may start. */
export interface Started {
  readonly words: readonly string[];
  readonly texts: readonly string[];
}

/** Where its options end is not known for each, so that each word may be the program until one that surely is. */
export function startedBy(name: string, given: readonly string[]): Started[] {
  const args = takesArguments(name) ? given.slice(0, signOfArguments(given)) : given;
  const words = withInput(name, args);
  const started: Started[] = [];
  let operands = WITH_OPERAND.has(name) ? 1 : 0;
  let isSettled = false;
  for (const [at, arg] of args.entries()) {
    const before = args[at - 1] ?? "";
    const isOption = arg.startsWith("-");
    const mayStart = !isOption && !/^\w+=/.test(arg) && !(isSettled && words[at]?.includes(ANYTHING));
    started.push({ words: mayStart ? words.slice(at) : [], texts: textsIn(name, args, at) });
    if (isOption || arg.includes("=") || mayTakeValue(name, before)) continue;
    if (operands > 0) operands--;
    else isSettled = true;
  }
  const startsShell = !isSettled && given.concat("").some((arg) => STARTING_SHELLS[name]?.test(arg));
  const hasText = args.some((arg) => TEXT_OPTIONS[name]?.test(arg));
  return startsShell && !hasText ? [...started, { words: [ANYTHING], texts: [] }] : started;
}

/** The commands among the words of a program that does other things, too. */
export function startedWithin(name: string, args: readonly string[]): Started[] {
  const starting = STARTING_WORDS[name];
  if (!starting) return [];
  const words = withInput(name, args);
  const places = [...args.keys()].filter((at) => starting.test(args[at] ?? "") || mayBeExec(name, args, at));
  switch (name) {
    case "find":
    case "fd":
    case "fdfind":
      return places.map((at) => ({
        words: words.slice(at + 1),
        texts: words.slice(at + 1, at + 2).filter(isText),
      }));
    case "git":
      return [...attachedTexts(args), ...places.flatMap((at) => startedBy(name, words.slice(at + 1)))];
    default:
      // Each word behind the first place is tried anyway.
      return places.slice(0, 1).flatMap((at) => startedBy(name, words.slice(at + 1)));
  }
}

/** Of `find`, a word that is not known, with one behind it that is. */
function mayBeExec(name: string, args: readonly string[], at: number): boolean {
  const following = args[at + 1] ?? ANYTHING;
  return name === "find" && args[at]?.includes(ANYTHING) === true && !following.includes(ANYTHING);
}

/** The texts of commands that git's options have in themselves. */
function attachedTexts(args: readonly string[]): Started[] {
  return args.flatMap((arg) => {
    const text = arg.match(/^(?:-x|--exec=|--extcmd=|--(?:\w+-)?filter=)(.+)$/s)?.[1];
    return text === undefined ? [] : [{ words: [], texts: [text] }];
  });
}

/** Arguments that are read come last, or in the place of a sign. */
function withInput(name: string, args: readonly string[]): readonly string[] {
  const reads = /^(?:xargs|parallel|sem|entr)$/.test(name);
  const isSign = (at: number) => reads && /^-\w*?[iI]$/.test(args[at] ?? "");
  const signs = args.flatMap((arg, at) => {
    if (isSign(at - 1)) return [arg];
    return (reads && arg.match(/^(?:-\w*?[iI]|--re\w*=)(.+)$/)?.[1]) || [];
  });
  const replaced = args.map((arg, at) => {
    if (isSign(at - 1)) return arg;
    const isReplaced = [...signs, takesArguments(name) ? "{" : "{}"].some((sign) => arg.includes(sign));
    return isReplaced ? ANYTHING : arg;
  });
  return reads ? [...replaced, ANYTHING] : replaced;
}

/** GNU parallel: what follows `:::` is no word of the command. */
function takesArguments(name: string): boolean {
  return name === "parallel" || name === "sem";
}

function signOfArguments(words: readonly string[]): number | undefined {
  const at = words.findIndex((word) => /^:{3,4}\+?$/.test(word));
  return at < 0 ? undefined : at;
}

/** Options that have their value in themselves, or none. */
const COMPLETE: Readonly<Record<string, RegExp>> = {
  xargs: /^-(?:[0rtxp]|[nPLs]\d+|I\W+)$/,
  parallel: /^-(?:[0ktuXm]|[jnNLP]\d+%?)$/,
};

function mayTakeValue(name: string, before: string): boolean {
  if (!before.startsWith("-") || before === "--" || /^--[\w-]+=/.test(before)) return false;
  return !COMPLETE[name]?.test(before);
}

function textsIn(name: string, args: readonly string[], at: number): string[] {
  const arg = args[at] ?? "";
  if (TEXT_STARTERS.has(name)) return [arg].filter(isText);
  if (STARTING_WORDS[name]) return [arg].filter((text) => isText(text) && !text.includes(ANYTHING));
  const option = TEXT_OPTIONS[name];
  if (!option) return [];
  const texts = option.test(args[at - 1] ?? "") ? [arg] : [];
  if (option.test(arg)) texts.push(arg.replace(option, ""));
  return name === "env" ? texts.map((text) => envText(text, args.slice(at + 1))) : texts.filter(isText);
}

/** `env -S` reads words as a shell does, but for escapes of its own. The words that follow come behind them. */
function envText(text: string, following: readonly string[]): string {
  if (/[\\\v\f\r]/.test(text)) return ANYTHING;
  return ["env", text, ...following.map((word) => `'${word.replaceAll("'", "'\\''")}'`)].join(" ");
}

/** A single word is a command by itself. */
function isText(text: string): boolean {
  return /[\s;&|<>()$`\0]/.test(text);
}
