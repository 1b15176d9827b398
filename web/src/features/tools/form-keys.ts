/** How a tool's form is used with the keyboard. */
import type { KeyboardEvent } from "react";

/** The keys that run a tool from within its form. */
export const RUN_KEYS = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘ Enter" : "Ctrl + Enter";

export function runByKeys(event: KeyboardEvent<HTMLFormElement>): void {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
}

/** Whoever tried to run it goes on where something is missing or wrong. */
export function focusOnProblem(form: HTMLFormElement | null): void {
  form?.querySelector<HTMLElement>("[aria-invalid='true']")?.focus();
}
