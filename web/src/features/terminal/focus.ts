/** Whether a terminal may take the focus by itself. */

/** Whoever types elsewhere goes on there. */
export function isElsewhere(): boolean {
  const { activeElement } = document;
  return (
    activeElement?.closest(
      "input, textarea:not(.xterm-helper-textarea), [contenteditable='true'], [role='tab'], [aria-modal='true']",
    ) != null
  );
}

/** A finger calls for the keyboard itself. */
export function mayFocus(): boolean {
  return matchMedia("(pointer: fine)").matches && !isElsewhere();
}
