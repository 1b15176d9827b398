/** The machines that a person has selected: kept in this tab, also while they are at another page. */
import { create } from "zustand";
import { keepInTab, keptInTab, onForget } from "../../base/tab-store.ts";

const KEPT = "selected";

export const useSelection = create<{ readonly ids: readonly string[] }>(() => ({
  ids: keptInTab(KEPT, areIds) ?? [],
}));

function areIds(kept: unknown): kept is string[] {
  return Array.isArray(kept) && kept.every((id) => typeof id === "string");
}

onForget(() => useSelection.setState({ ids: [] }));

/** Puts others in their place. */
export function select(ids: readonly string[]): void {
  useSelection.setState({ ids });
  keepInTab(KEPT, ids);
}

export function toggle(id: string): void {
  const { ids } = useSelection.getState();
  select(ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id]);
}
