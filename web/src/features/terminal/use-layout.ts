/** The tabs and panes of a machine's terminals: kept in this tab of the browser, and the last ones for a tab that is new. */
import { useCallback, useState } from "react";
import { lastKnown, remember } from "../../base/last-known.ts";
import { keepInTab, keptInTab } from "../../base/tab-store.ts";
import { EMPTY, isLayout, type Layout, withOthers } from "./layout.ts";

export type ChangeLayout = (change: (layout: Layout) => Layout) => void;

export function useLayout(device: string): readonly [Layout, ChangeLayout] {
  const name = nameOf(device);
  const [layout, setLayout] = useState(() => keptInTab(name, isLayout) ?? EMPTY);
  const change = useCallback<ChangeLayout>(
    (next) =>
      setLayout((before) => {
        const after = next(before);
        keepInTab(name, after);
        const last = lastKnown(name, isLayout)?.value ?? EMPTY;
        remember(name, withOthers(after, { before, last }));
        return after;
      }),
    [name],
  );
  return [layout, change];
}

/** What was shown last, for a browser's tab that showed none of this machine's terminals yet; undefined: nothing. */
export function lastLayout(device: string): Layout | undefined {
  const name = nameOf(device);
  const last = keptInTab(name, isLayout) ? undefined : lastKnown(name, isLayout)?.value;
  return last && last.tabs.length > 0 ? last : undefined;
}

function nameOf(device: string): string {
  return `terminals:${device}`;
}
