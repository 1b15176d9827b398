/** What was typed for a tool: kept in this tab, through reloads and other tools. */
import { useState } from "react";
import type { Draft } from "../../ui/schema-fields.ts";

export function useDraft(device: string, tool: string): [Draft, (draft: Draft) => void] {
  const key = `matrx-draft:${device}:${tool}`;
  const [draft, setDraft] = useState(() => stored(key));
  const set = (next: Draft) => {
    setDraft(next);
    try {
      sessionStorage.setItem(key, JSON.stringify(next));
    } catch {
      // Too much was typed to be kept: it is still on the screen.
    }
  };
  return [draft, set];
}

function stored(key: string): Draft {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "{}");
  } catch {
    return {};
  }
}
