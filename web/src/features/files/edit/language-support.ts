/** What the editor knows of languages. */
import { css } from "@codemirror/lang-css";
import { html } from "@codemirror/lang-html";
import { javascript } from "@codemirror/lang-javascript";
import { json } from "@codemirror/lang-json";
import { markdown } from "@codemirror/lang-markdown";
import { python } from "@codemirror/lang-python";
import { yaml } from "@codemirror/lang-yaml";
import type { Extension } from "@codemirror/state";
import type { Language } from "../../../ui/code/languages.ts";

const SUPPORT: Readonly<Partial<Record<Language, () => Extension>>> = {
  css,
  javascript: () => javascript({ jsx: true }),
  json,
  markdown,
  python,
  typescript: () => javascript({ jsx: true, typescript: true }),
  xml: html,
  yaml,
};

/** Nothing for a language that the editor does not know. */
export function supportOf(language: Language): Extension {
  return SUPPORT[language]?.() ?? [];
}
