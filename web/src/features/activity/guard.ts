/** Keeps a press from deciding on what has only just appeared, or has just moved under the finger. */
import { createContext, type RefObject, useContext, useEffect, useState, useSyncExternalStore } from "react";
import { useQuestion } from "../../ui/confirm.ts";
import { useNotices } from "../../ui/notices.ts";

/** How long what is shown must have stood still, in milliseconds. */
const STILL_FOR = 700;

export class Guard {
  #until = performance.now() + STILL_FOR;
  #isInert = true;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();

  get isInert(): boolean {
    return this.#isInert;
  }

  /** From now on nothing can be pressed for a moment. */
  readonly rearm = (): void => {
    this.#until = performance.now() + STILL_FOR;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#mark(false), STILL_FOR);
    this.#mark(true);
  };

  /** Whether a press is a person's, on what they had time to see. */
  admits({ isTrusted }: Event): boolean {
    return isTrusted && performance.now() >= this.#until;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #mark(isInert: boolean): void {
    if (this.#isInert === isInert) return;
    this.#isInert = isInert;
    for (const listener of this.#listeners) listener();
  }
}

export const GuardContext = createContext<Guard | undefined>(undefined);

/** A guard that watches what it keeps, and what moves that by its size or lay on top of it. */
export function useGuard(...watched: readonly RefObject<HTMLElement | null>[]): Guard {
  const [guard] = useState(() => new Guard());
  // biome-ignore lint/correctness/useExhaustiveDependencies: refs stay the same
  useEffect(() => {
    guard.rearm();
    const observer = new ResizeObserver(guard.rearm);
    for (const { current } of watched) if (current) observer.observe(current);
    const ends = [useQuestion.subscribe(guard.rearm), useNotices.subscribe(guard.rearm)];
    document.addEventListener("visibilitychange", guard.rearm);
    // Another window lay on top: the second press of a double one may have been meant for it.
    addEventListener("focus", guard.rearm);
    return () => {
      observer.disconnect();
      for (const end of ends) end();
      document.removeEventListener("visibilitychange", guard.rearm);
      removeEventListener("focus", guard.rearm);
    };
  }, [guard]);
  return guard;
}

/** The guard around here, and whether it lets nothing be pressed at the moment. */
export function useGuarded(): { guard: Guard; isInert: boolean } {
  const guard = useContext(GuardContext);
  if (!guard) throw new Error("A decision needs a guard around it");
  const isInert = useSyncExternalStore(guard.subscribe, () => guard.isInert);
  return { guard, isInert };
}
