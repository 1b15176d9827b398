/** Colours of a language, as parts of lines: the library's own markup has no place in this page. */
import type { HLJSApi } from "highlight.js";
import core from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import type { Language } from "./languages.ts";
import { shownText } from "./shown-text.ts";

export interface Colored {
  /** With nothing hidden in it. */
  readonly text: string;
  /** What it is to the language, such as `keyword`. */
  readonly kind: string | undefined;
}

const LANGUAGES = {
  ...{ bash, cpp, css, diff, go, ini, java, javascript, json, makefile, markdown },
  ...{ python, rust, sql, typescript, xml, yaml },
} satisfies Record<Language, unknown>;

/** Takes what the library finds, in the order of the text. */
class Parts {
  readonly parts: Colored[] = [];
  readonly #kinds: string[] = [];

  addText(text: string): void {
    if (text !== "") this.parts.push({ text, kind: this.#kinds.at(-1) });
  }

  startScope(kind: string): void {
    this.#kinds.push(kind.split(".")[0] ?? kind);
  }

  endScope(): void {
    this.#kinds.pop();
  }

  __addSublanguage({ parts }: Parts): void {
    for (const { text, kind } of parts) this.parts.push({ text, kind: kind ?? this.#kinds.at(-1) });
  }

  // The library asks for these, too.
  openNode(kind: string): void {
    this.startScope(kind);
  }
  closeNode(): void {
    this.endScope();
  }
  finalize(): void {}
  toHTML(): string {
    return "";
  }
}

const library: HLJSApi = core.newInstance();
library.configure({ __emitter: Parts });
for (const [name, language] of Object.entries(LANGUAGES)) library.registerLanguage(name, language);

/** The lines of a text. */
export function highlight(text: string, language: Language): Colored[][] {
  const { _emitter: emitter } = library.highlight(text, { language, ignoreIllegals: true });
  const lines: Colored[][] = [[]];
  for (const { text: part, kind } of (emitter as unknown as Parts).parts)
    for (const [at, piece] of part.split("\n").entries()) {
      if (at > 0) lines.push([]);
      if (piece !== "") lines.at(-1)?.push({ text: shownText(piece), kind });
    }
  return lines;
}
