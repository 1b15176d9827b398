/**
 * What rules are matched with in a command of bash: its text, and each simple command in it by its words. Programs that start
 * others are looked through. Where something else may run than can be seen, `ANYTHING` is among them.
 */
import { type Command, forEachChild, type ParsedScript, parse, type SyntaxNode } from "unbash";
import { changesReading, mayEvaluate, setsUnknown } from "./bash-builtins.ts";
import { shellCall } from "./shell-call.ts";
import { joined, wordsOf, wordText } from "./shell-words.ts";
import { type Started, startedBy, startedWithin } from "./started.ts";
import { EVALUATED_VARIABLE, kindOf, knownName, RUN_VARIABLE } from "./starters.ts";
import { ANYTHING } from "./subject.ts";

const MOST = {
  /** Characters of a text, and of all commands that are found in it. */
  chars: 64 * 1024,
  commands: 1000,
  /** Texts in texts, and commands of commands. */
  depth: 16,
  /** Words of a command that starts others. */
  words: 100,
  /** Options before a subcommand that may be left out. */
  options: 16,
};

export function bashSubjects(text: string): string[] {
  return subjectsIn(text, (search) => search.script(parse(text), 0));
}

/** The same for another shell of POSIX, such as dash. */
export function shSubjects(text: string): string[] {
  return subjectsIn(text, (search) => search.sh(text, 0));
}

function subjectsIn(text: string, look: (search: Search) => void): string[] {
  if (text.length > MOST.chars) return [text, ANYTHING];
  const search = new Search();
  try {
    look(search);
  } catch {
    return [text, ANYTHING];
  }
  return [...new Set([text, ...search.subjects(), ...(search.isUnsure ? [ANYTHING] : [])])];
}

/** What bash reads in another way than other shells of POSIX: there it may hide a command. */
const OF_BASH_ALONE =
  /&>|\|&|;&|<<<|[<>?*+@!]\(|\$['"[]|\[\[|(?<!\$)\(\(|\b(?:function|coproc|select|time)\b|[\w\]]\+=|\]=/;

/** What a text has that becomes a command where it is evaluated. */
const HIDDEN = /`|\$(?:[({]|$)|\\(?:x(?:24|\{)|0?44|u0*24)/i;

class Search {
  readonly #commands = new Set<string>();
  readonly #seen = new Set<string>();
  #chars = 0;
  #isUnsure = false;
  #isOfBash = true;
  /** Whether a variable's text may be evaluated, and whether a quoted text has what would run then. */
  #evaluates = false;
  #hides = false;

  get isUnsure(): boolean {
    return this.#isUnsure || (this.#evaluates && this.#hides);
  }

  subjects(): readonly string[] {
    return [...this.#commands];
  }

  script(script: ParsedScript | undefined, depth: number): void {
    if (!script || script.errors || depth > MOST.depth) this.#isUnsure = true;
    else this.#within(script, depth);
  }

  /** From here on, texts are those of any shell of POSIX. */
  sh(text: string, depth: number): void {
    this.#isOfBash = false;
    this.#text(text, depth);
  }

  /** Once unsure, all is said. */
  #within(node: SyntaxNode, depth: number): void {
    if (!this.#isUnsure) forEachChild(node, (child) => this.#node(child, depth));
  }

  #node(node: SyntaxNode, depth: number): void {
    switch (node.type) {
      case "Script":
        return this.script(node, depth + 1);
      case "CommandExpansion":
      case "ProcessSubstitution":
        if (!node.script) this.#isUnsure = true;
        break;
      case "Command":
        this.#command(node, depth);
        break;
      case "Assignment":
      case "For":
      case "Select":
        if (node.type === "Assignment" && hasIndex(node)) this.#evaluates = true;
        this.#variable(typeof node.name === "string" ? node.name : wordText(node.name));
        break;
      case "ParameterExpansion":
        this.#parameter(node);
        break;
      case "Redirect":
        if (node.descriptor?.type === "FileDescriptorVariable" && node.descriptor.name.includes("["))
          this.#evaluates = true;
        break;
      case "ArithmeticExpansion":
      case "ArithmeticCommand":
      case "ArithmeticFor":
        this.#evaluates = true;
        break;
      case "TestBinary":
      case "TestUnary":
        if (/^-(?:eq|ne|[lg][te]|v|R)$/.test(node.operator)) this.#evaluates = true;
        break;
      case "SingleQuoted":
      case "AnsiCQuoted":
      case "Literal":
        if (HIDDEN.test(node.value)) this.#hides = true;
        break;
      case "Word":
        if (!node.parts && HIDDEN.test(node.value)) this.#hides = true;
        break;
    }
    this.#within(node, depth);
  }

  #variable(name: string): void {
    if (RUN_VARIABLE.test(name)) this.#isUnsure = true;
    if (EVALUATED_VARIABLE.test(name)) this.#evaluates = true;
  }

  #parameter({
    parameter,
    prefix,
    index,
    operation,
  }: Extract<SyntaxNode, { type: "ParameterExpansion" }>): void {
    if (RUN_VARIABLE.test(parameter)) this.#isUnsure = true;
    if (operation?.type === "Default") this.#variable(parameter);
    if (index || prefix === "!" || operation?.type === "Slice") this.#evaluates = true;
    if (prefix === "!" && operation?.type === "Default") this.#isUnsure = true;
    if (operation?.type === "Transform" || operation?.type === "Unknown") this.#isUnsure = true;
  }

  #command(command: Command, depth: number): void {
    const words = wordsOf(command);
    // A shell reads on from what becomes its stdin.
    const [program] = words;
    if (program === "exec" && words.length === 1 && command.redirects.some(isInput)) this.#isUnsure = true;
    this.#words(words, depth);
  }

  #words(words: readonly string[], depth: number): void {
    const [program] = words;
    if (program === undefined || this.#isUnsure || this.#isSeen(words)) return;
    if (depth > MOST.depth || program.includes(ANYTHING) || program.startsWith("=")) {
      this.#isUnsure = true;
      return;
    }
    const rest = words.slice(1);
    const name = program.slice(program.lastIndexOf("/") + 1);
    const plain = knownName(name);
    for (const called of new Set([program, name, plain])) this.#add([called, ...rest]);
    const places = behindOptions(rest);
    if (places.length > MOST.options) this.#isUnsure = true;
    for (const from of places) this.#add([plain, ...rest.slice(from)]);
    if (rest.some((word) => RUN_VARIABLE.test(word) && word.includes("="))) this.#isUnsure = true;
    this.#started(plain, rest, depth + 1);
  }

  #started(name: string, rest: readonly string[], depth: number): void {
    switch (kindOf(name)) {
      case "opaque":
        this.#isUnsure = true;
        return;
      case "evaluating":
        if (mayEvaluate(name, rest)) this.#evaluates = true;
        if (rest.some((word) => RUN_VARIABLE.test(word)) || setsUnknown(name, rest)) this.#isUnsure = true;
        return;
      case "setting":
        if (rest.some(changesReading)) this.#isUnsure = true;
        return;
      case "eval":
        return this.#text((rest[0] === "--" ? rest.slice(1) : rest).join(" "), depth);
      case "shell":
        return this.#shell(name, rest, depth);
      case "starter":
        return this.#start(startedBy(name, rest), depth);
      case "plain":
        if (name === "git" && rest.some(isAlias)) this.#isUnsure = true;
        this.#start(startedWithin(name, rest), depth);
    }
  }

  #shell(name: string, words: readonly string[], depth: number): void {
    const { text, isAll } = shellCall(name, words);
    if (!isAll) this.#isUnsure = true;
    if (text === undefined) return;
    if (name.endsWith("bash")) this.#text(text, depth);
    else this.sh(text, depth);
  }

  #start(started: readonly Started[], depth: number): void {
    if (started.length > MOST.words) this.#isUnsure = true;
    for (const { words, texts } of started) {
      this.#words(words, depth);
      for (const text of texts) this.#text(text, depth);
    }
  }

  #text(text: string, depth: number): void {
    if (this.#isUnsure) return;
    const isOther = !this.#isOfBash && OF_BASH_ALONE.test(text);
    if (isOther || text.includes(ANYTHING) || text.length > MOST.chars) this.#isUnsure = true;
    else this.script(parse(text), depth + 1);
  }

  /** Starters of starters come to the same command in many ways. */
  #isSeen(words: readonly string[]): boolean {
    const key = [this.#isOfBash, ...words].join("\u0001");
    if (this.#seen.has(key)) return true;
    this.#seen.add(key);
    if (this.#seen.size > MOST.commands) this.#isUnsure = true;
    return false;
  }

  #add(words: readonly string[]): void {
    const text = joined(words);
    if (this.#commands.has(text)) return;
    this.#chars += text.length;
    this.#commands.add(text);
    if (this.#chars > MOST.chars || this.#commands.size > MOST.commands) this.#isUnsure = true;
  }
}

function hasIndex({ index, value }: Extract<SyntaxNode, { type: "Assignment" }>): boolean {
  return (
    index !== undefined ||
    (value.type === "ArrayValue" && value.elements.some(({ text }) => /^\[/.test(text)))
  );
}

/** An alias of git, or a setting that may be one: it may stand for any command. So may what is run in each repository. */
function isAlias(word: string, at: number, words: readonly string[]): boolean {
  return /alias\.|^for-each-repo$/i.test(word) || (words[at - 1] === "-c" && /^[^=]*\0/.test(word));
}

/** Where the arguments may begin if options in front are left out, with the values that may follow them. */
function behindOptions(args: readonly string[]): number[] {
  const places: number[] = [];
  let isOption = false;
  for (const [at, arg] of args.entries()) {
    if (at > 0) places.push(at);
    const followsOption = isOption;
    isOption = arg.startsWith("-");
    if ((!isOption && !followsOption) || places.length > MOST.options) break;
  }
  return places;
}

function isInput({ operator }: Command["redirects"][number]): boolean {
  return !/^(?:>|>>|>\||&>|&>>|>&)$/.test(operator);
}
