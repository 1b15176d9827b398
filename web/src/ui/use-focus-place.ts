/** Who uses the keyboard keeps a place when what had the focus goes, such as the button of what was just removed. */
import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";

/**
 * When `element` goes with the focus, the nearest title around it that stays gets the focus: of its item, its panel, or the
 * page. `isBusy`: it is disabled while its work runs, so it has lost the focus already.
 */
export function useFocusPlace(element: RefObject<HTMLElement | null>, isBusy: boolean): void {
  const wasBusy = useRef(false);
  useEffect(() => {
    wasBusy.current = isBusy;
  }, [isBusy]);
  useLayoutEffect(() => {
    const shown = element.current;
    return () => {
      if (shown && (wasBusy.current || shown.contains(document.activeElement))) keepPlace(shown);
    };
  }, [element]);
}

/** `gone` is still there, and is not a moment later. */
function keepPlace(gone: Element): void {
  const titles = titlesAround(gone);
  queueMicrotask(() => {
    if (document.activeElement !== document.body) return;
    const place = titles.find((title) => title.isConnected) ?? document.getElementById("page-title");
    place?.focus({ preventScroll: true });
  });
}

function titlesAround(element: Element): HTMLElement[] {
  const titles: HTMLElement[] = [];
  for (let around = element.closest("li, section"); around; around = outside(around)) {
    const title = around.querySelector<HTMLElement>("h2, h3");
    if (title) titles.push(title);
  }
  return titles;
}

function outside(element: Element): Element | null {
  return element.parentElement?.closest("li, section") ?? null;
}
