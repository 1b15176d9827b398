/** Attributes of text that scrolls by itself: it can be reached with the keyboard, and has a name. */
export function scrolled(label: string) {
  return { tabIndex: 0, role: "group", "aria-label": label } as const;
}
