/** From the files to the terminal that is used, and back: once what was hidden can be seen. */

export function focusTerminal(box: HTMLElement | null): void {
  focusFirst(box, ["[role='tabpanel']:not([hidden]) [data-active='true'] textarea", "section button"]);
}

export function focusFiles(box: HTMLElement | null): void {
  focusFirst(box, ["[role='grid']", "a, button"]);
}

function focusFirst(box: HTMLElement | null, selectors: readonly string[]): void {
  requestAnimationFrame(() => {
    const found = selectors.map((selector) => box?.querySelector<HTMLElement>(selector));
    found.find((one) => one?.checkVisibility())?.focus();
  });
}
