/** Keeps the page below the header, and above a phone's keyboard, which covers it in browsers that do not make the page smaller. */
import { type RefObject, useEffect } from "react";

export function useVisibleHeight(page: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const seen = window.visualViewport;
    if (!seen) return;
    const fit = () => {
      // Zoomed in, it shows a part, and nothing is covered.
      const covered = seen.scale > 1.05 ? 0 : Math.max(0, innerHeight - seen.height);
      const top = (page.current?.getBoundingClientRect().top ?? 0) + scrollY;
      page.current?.style.setProperty("--top", `${Math.ceil(top)}px`);
      page.current?.style.setProperty("--covered", `${Math.round(covered)}px`);
    };
    fit();
    seen.addEventListener("resize", fit);
    // What appears above it moves it.
    const observer = new ResizeObserver(fit);
    observer.observe(document.body);
    return () => {
      seen.removeEventListener("resize", fit);
      observer.disconnect();
    };
  }, [page]);
}
