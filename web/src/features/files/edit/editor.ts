/** CodeMirror, as this page needs it. */
import { syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { basicSetup } from "codemirror";
import { NONCE } from "../../../base/nonce.ts";
import { languageOf } from "../../../ui/code/languages.ts";
import { visibleLine } from "../../../ui/visible-text.ts";

export interface TextEditor {
  /** As it is to be written: with the file's own line ends. */
  text(): string;
  focus(): void;
  destroy(): void;
}

interface Wish {
  readonly name: string;
  readonly text: string;
  readonly onChange: () => void;
}

/** Colours are in `Edit.module.css`. */
const LOOK = EditorView.theme({
  "&": { height: "100%", fontSize: "0.8125rem" },
  ".cm-scroller": { fontFamily: "var(--mantine-font-family-monospace)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--mantine-color-text)" },
  ".cm-cursor": { borderLeftColor: "var(--mantine-color-text)" },
  ".cm-gutters": {
    backgroundColor: "var(--mantine-color-body)",
    color: "var(--mantine-color-dimmed)",
    borderRight: "0",
  },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--surface-raised)" },
  "&.cm-focused": { outline: "none" },
  "& .cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "var(--info-soft)",
  },
  ".cm-panels": { backgroundColor: "var(--surface)", color: "inherit" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", border: "1px solid var(--border)" },
});

export function createEditor(parent: HTMLElement, { name, text, onChange }: Wish): TextEditor {
  const support = new Compartment();
  const lineEnd = lineEndOf(text);
  const extensions: Extension[] = [
    basicSetup,
    EditorState.lineSeparator.of(lineEnd),
    EditorView.lineWrapping,
    EditorView.cspNonce.of(NONCE),
    EditorView.contentAttributes.of({ "aria-label": `Content of ${visibleLine(name)}`, tabindex: "0" }),
    EditorView.updateListener.of((update) => update.docChanged && onChange()),
    syntaxHighlighting(classHighlighter),
    LOOK,
    support.of([]),
  ];
  const view = new EditorView({ parent, state: EditorState.create({ doc: text, extensions }) });
  const language = languageOf(name);
  // Without its language it is still an editor.
  if (language !== undefined)
    void import("./language-support.ts")
      .then(({ supportOf }) => view.dispatch({ effects: support.reconfigure(supportOf(language)) }))
      .catch(() => undefined);
  return {
    text: () => view.state.sliceDoc(),
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

/** Of a file with several kinds, `\n`: the others stay what they are, as characters. */
function lineEndOf(text: string): "\r\n" | "\n" {
  const all = text.match(/\r?\n/g) ?? [];
  return all.length > 0 && all.every((end) => end === "\r\n") ? "\r\n" : "\n";
}
