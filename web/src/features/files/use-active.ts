/** The line that the keyboard is at. Each folder keeps its own while the page is open, so that the way back leads to it. */
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { type Entry, keyOf } from "./entries.ts";

const lastIn = new Map<string, string>();

/** The name that a folder begins with when it is shown next. */
export function beginAt(path: string, name: string): void {
  lastIn.set(path, name);
}

export function useActive(path: string, entries: readonly Entry[]) {
  const { file } = useSearch({ from: "/d/$device/files/$" });
  const [key, setKey] = useState(() => file ?? lastIn.get(path));
  const [place, setPlace] = useState(0);
  const found = key === undefined ? -1 : entries.findIndex((entry) => keyOf(entry) === key);
  // One that is gone leaves its place to the next.
  const active = found >= 0 ? found : Math.max(0, Math.min(place, entries.length - 1));
  const setActive = (index: number) => {
    const entry = entries[index];
    const next = entry && keyOf(entry);
    setPlace(index);
    setKey(next);
    if (next !== undefined) lastIn.set(path, next);
  };
  return { active, setActive };
}
