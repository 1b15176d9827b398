/** The dialog and the menu of the page: one of each at a time. */
import { create } from "zustand";
import type { Entry } from "./entries.ts";

/** An entry of a folder. */
export interface Placed {
  readonly device: string;
  readonly folder: string;
  readonly entry: Entry;
}

export type Dialog =
  | { readonly kind: "folder"; readonly device: string; readonly folder: string }
  | ({ readonly kind: "rename" | "move" | "share" } & Placed);

interface Open {
  readonly dialog: Dialog | undefined;
  readonly menu: (Placed & { readonly x: number; readonly y: number }) | undefined;
}

export const useOpen = create<Open>(() => ({ dialog: undefined, menu: undefined }));

/** What had the focus gets it back. */
let opener: Element | null = null;

export function openDialog(dialog: Dialog): void {
  opener = document.activeElement;
  useOpen.setState({ dialog, menu: undefined });
}

export function closeDialog(): void {
  useOpen.setState({ dialog: undefined });
  if (opener instanceof HTMLElement) opener.focus({ preventScroll: true });
}

/** At a place of the window. */
export function openMenu(menu: NonNullable<Open["menu"]>): void {
  useOpen.setState({ menu });
}

export function closeMenu(): void {
  useOpen.setState({ menu: undefined });
}
