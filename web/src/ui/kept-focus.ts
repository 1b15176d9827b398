/** Where the focus goes when what has it is taken off the page: to the title of what it was in. */
import { type RefObject, useLayoutEffect } from "react";

/** What has a title of its own. */
const BOXES = "li, section, main";
const TITLE = ":is(h1, h2, h3)[tabindex]";

/** Keeps the focus near this element after it has gone, if the focus went with it. */
export function useKeptFocus(ref: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = ref.current;
    return () => {
      if (element && hasFocus(element)) focusNear(element);
    };
  }, [ref]);
}

/** A button that is disabled while it is busy has lost the focus to the page. */
function hasFocus(element: HTMLElement): boolean {
  const { activeElement, body } = document;
  const isBusy = element.matches(":disabled") || element.querySelector(":disabled") !== null;
  return element.contains(activeElement) || (activeElement === body && isBusy);
}

function focusNear(element: HTMLElement): void {
  const boxes: HTMLElement[] = [];
  for (let box = boxOf(element); box; box = boxOf(box.parentElement)) boxes.push(box);
  // Once all that goes has gone. Something else may have taken the focus by then.
  queueMicrotask(() => {
    if (document.activeElement !== document.body) return;
    const titles = boxes.filter(({ isConnected }) => isConnected).map((box) => box.querySelector(TITLE));
    titles.find((title) => title instanceof HTMLElement)?.focus({ preventScroll: true });
  });
}

function boxOf(element: HTMLElement | null): HTMLElement | null {
  return element?.closest<HTMLElement>(BOXES) ?? null;
}
