/** The editor in its box, and what is typed into it: kept in this tab until it is saved, and asked about before the tab is closed. */
import { useEffect, useRef, useState } from "react";
import { isElsewhere } from "../../terminal/focus.ts";
import { dropDraft, keepDraft } from "./draft.ts";
import { createEditor, type TextEditor } from "./editor.ts";
import type { Version } from "./versions.ts";

interface Wish {
  readonly device: string;
  readonly path: string;
  readonly name: string;
  /** What the editor begins with. */
  readonly version: Version;
  /** It was typed before. */
  readonly hasDraft: boolean;
}

/** What is typed is kept this long after the last key, in milliseconds. */
const KEEP_AFTER = 250;

export function useTextEditor({ device, path, name, version, hasDraft }: Wish) {
  const box = useRef<HTMLDivElement>(null);
  const editor = useRef<TextEditor>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  /** The version that the next save replaces. */
  const [base, setBase] = useState(version.sha256);
  const [isChanged, setChanged] = useState(hasDraft);
  const [isRoom, setRoom] = useState(true);
  // What the editor calls has to be what is drawn now.
  const latest = useRef(base);
  latest.current = base;
  useEffect(() => {
    if (!box.current) return;
    const keep = () => {
      clearTimeout(timer.current);
      timer.current = undefined;
      setRoom(keepDraft(device, path, { text: made.text(), base: latest.current }));
    };
    const made = createEditor(box.current, {
      name,
      text: version.text,
      onChange: () => {
        setChanged(true);
        clearTimeout(timer.current);
        timer.current = setTimeout(keep, KEEP_AFTER);
      },
    });
    editor.current = made;
    if (!isElsewhere() && !document.activeElement?.closest(".xterm")) made.focus();
    const leave = () => timer.current !== undefined && keep();
    addEventListener("pagehide", leave);
    return () => {
      leave();
      removeEventListener("pagehide", leave);
      made.destroy();
    };
  }, [device, path, name, version]);
  // A reload gives it back, but a tab that is closed does not; the browser tells no difference.
  useEffect(() => {
    if (!isChanged) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isChanged]);

  const text = () => editor.current?.text() ?? "";
  const forget = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
    dropDraft(device, path);
  };
  return {
    box,
    text,
    base,
    isChanged,
    isRoom,
    /** Whoever pressed a button types on. */
    refocus() {
      if (isFocusLost()) editor.current?.focus();
    },
    /** It is not to be kept any longer. */
    forget,
    /** The machine has this now; what was typed meanwhile is not in it. */
    saved(next: Version) {
      setBase(next.sha256);
      const isSame = text() === next.text;
      setChanged(!isSame);
      if (isSame) forget();
      else setRoom(keepDraft(device, path, { text: text(), base: next.sha256 }));
    },
  };
}

/** A button that was pressed and is disabled now, or has gone: the focus is on the page, or on a title near it. */
function isFocusLost(): boolean {
  return document.activeElement?.matches("body, :disabled, h2") ?? true;
}
