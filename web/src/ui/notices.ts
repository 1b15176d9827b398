/** Short news for whoever looks, read out by screen readers: what was done, or why it was not. */
import { create } from "zustand";
import { shortLine } from "./visible-text.ts";

export interface Notice {
  readonly id: number;
  readonly kind: "done" | "problem";
  readonly text: string;
  /** What to do about it. */
  readonly hint: string | undefined;
}

/** Shown at once at the most; older ones make room. */
const MOST = 3;

let last = 0;

export const useNotices = create<{ readonly notices: readonly Notice[] }>(() => ({ notices: [] }));

export function say(text: string): void {
  add({ kind: "done", text, hint: undefined });
}

export function sayProblem(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  const hint = error instanceof Error && "hint" in error ? error.hint : undefined;
  add({
    kind: "problem",
    text: shortLine(text.split("\n", 1)[0] ?? ""),
    hint: typeof hint === "string" ? shortLine(hint) : undefined,
  });
}

export function dismiss(id: number): void {
  useNotices.setState(({ notices }) => ({ notices: notices.filter((notice) => notice.id !== id) }));
}

/** What was said to one person is not for the next. */
export function dismissAll(): void {
  useNotices.setState({ notices: [] });
}

/** The same once more takes the place of the first. */
function add(notice: Omit<Notice, "id">): void {
  last += 1;
  const id = last;
  useNotices.setState(({ notices }) => ({
    notices: [...notices.filter(({ text }) => text !== notice.text), { ...notice, id }].slice(-MOST),
  }));
}
