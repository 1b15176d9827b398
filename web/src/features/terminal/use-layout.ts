/** The tabs and panes of a machine's terminals, kept in this tab of the browser. */
import { useCallback, useState } from "react";
import { keepInTab, keptInTab } from "../../app/tab-store.ts";
import { EMPTY, isLayout, type Layout } from "./layout.ts";

export type ChangeLayout = (change: (layout: Layout) => Layout) => void;

export function useLayout(device: string): readonly [Layout, ChangeLayout] {
  const name = `terminals:${device}`;
  const [layout, setLayout] = useState(() => keptInTab(name, isLayout) ?? EMPTY);
  const change = useCallback<ChangeLayout>(
    (next) =>
      setLayout((before) => {
        const after = next(before);
        keepInTab(name, after);
        return after;
      }),
    [name],
  );
  return [layout, change];
}
