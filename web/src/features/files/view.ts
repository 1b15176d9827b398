/** How this browser shows folders. */
import { create } from "zustand";
import { store, storedJson } from "../../app/storage.ts";
import { COLUMNS, type Order } from "./order.ts";

interface View {
  readonly order: Order;
  readonly showHidden: boolean;
}

const KEY = "matrx-files";

export const useView = create<View>(() => kept());

export function changeView(change: Partial<View>): void {
  useView.setState(change);
  store("browser", KEY, JSON.stringify(useView.getState()));
}

function kept(): View {
  const { order, showHidden } = (storedJson("browser", KEY) ?? {}) as { order?: Order; showHidden?: unknown };
  const by = COLUMNS.find((column) => column === order?.by) ?? "name";
  return { order: { by, isDown: order?.isDown === true }, showHidden: showHidden === true };
}
