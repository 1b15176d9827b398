/** What was typed for a tool: kept in this tab, through reloads and other tools. */
import { create } from "zustand";
import { keepInTab, keptInTab, onForget } from "../../base/tab-store.ts";
import type { Draft, DraftValue } from "../../ui/schema/draft.ts";
import type { Field } from "../../ui/schema/fields.ts";

/** Pause before what is typed is stored, in milliseconds. */
const STORE_AFTER = 300;

const drafts = new Map<string, Draft>();
/** Not stored yet. */
const waiting = new Map<string, Draft>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** How often a draft was put in place of what a form had: the form is made anew then. */
export const useReplaced = create<{ readonly count: number }>(() => ({ count: 0 }));

onForget(() => {
  clearTimeout(timer);
  drafts.clear();
  waiting.clear();
});
addEventListener("pagehide", store);

export function draftFor(device: string, tool: string): Draft {
  const key = keyOf(device, tool);
  return drafts.get(key) ?? new Map(keptInTab(key, isDraft));
}

/** Passwords and the like are only kept while the page is open. */
export function keepDraft(device: string, tool: string, draft: Draft, fields: readonly Field[]): void {
  const key = keyOf(device, tool);
  if (drafts.get(key) === draft) return;
  drafts.set(key, draft);
  const isSecret = (name: string) =>
    fields.some((field) => field.name === name && field.input.kind === "text" && field.input.isSecret);
  waiting.set(key, new Map([...draft].filter(([name]) => !isSecret(name))));
  clearTimeout(timer);
  timer = setTimeout(store, STORE_AFTER);
}

/** Puts it into the tool's form. */
export function replaceDraft(device: string, tool: string, draft: Draft, fields: readonly Field[]): void {
  keepDraft(device, tool, draft, fields);
  useReplaced.setState(({ count }) => ({ count: count + 1 }));
}

function isDraft(value: unknown): value is [string, DraftValue][] {
  return (
    Array.isArray(value) &&
    value.every((entry) => Array.isArray(entry) && typeof entry[0] === "string" && isDraftValue(entry[1]))
  );
}

function isDraftValue(value: unknown): value is DraftValue {
  if (Array.isArray(value)) return value.every((text) => typeof text === "string");
  return typeof value === "string" || typeof value === "boolean";
}

function store(): void {
  for (const [key, draft] of waiting) keepInTab(key, [...draft]);
  waiting.clear();
}

function keyOf(device: string, tool: string): string {
  return `draft:${device}:${tool}`;
}
