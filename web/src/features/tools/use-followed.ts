/** Keeps an answer on the screen while it comes, until the person scrolls elsewhere. */
import { type RefObject, useEffect } from "react";

/** A smaller step is no scrolling, in pixels. */
const LEAST = 4;

export function useFollowed(place: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const box = place.current;
    if (!box) return;
    let top: number | undefined;
    const watcher = new ResizeObserver(() => {
      const now = box.getBoundingClientRect().top;
      if (top !== undefined && Math.abs(now - top) > LEAST) return watcher.disconnect();
      box.scrollIntoView({ block: "nearest" });
      top = box.getBoundingClientRect().top;
    });
    watcher.observe(box);
    return () => watcher.disconnect();
  }, [place]);
}
