/** How this browser shows folders. */
import { create } from "zustand";
import { store, storedJson } from "../../base/storage.ts";
import { COLUMNS, type Order } from "./order.ts";

interface View {
  readonly order: Order;
  readonly showHidden: boolean;
  /** Of panes whose width somebody chose, in pixels. */
  readonly treeWidth?: number | undefined;
  readonly fileWidth?: number | undefined;
}

const KEY = "matrx-files";

export const useView = create<View>(() => kept());

export function changeView(change: Partial<View>): void {
  useView.setState(change);
  // What another tab chose stays.
  store("browser", KEY, JSON.stringify({ ...kept(), ...change }));
}

function kept(): View {
  const { order, showHidden, treeWidth, fileWidth } = (storedJson("browser", KEY) ?? {}) as Kept;
  const by = COLUMNS.find((column) => column === order?.by) ?? "name";
  return {
    order: { by, isDown: order?.isDown === true },
    showHidden: showHidden === true,
    treeWidth: widthIn(treeWidth),
    fileWidth: widthIn(fileWidth),
  };
}

interface Kept extends Partial<Record<Exclude<keyof View, "order">, unknown>> {
  readonly order?: Order;
}

function widthIn(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? value : undefined;
}
