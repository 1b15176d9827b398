/** The dialog and the menu of the page: one of each at a time. */
import { create } from "zustand";
import type { Entry } from "./entries.ts";

/** An entry of a folder. */
export interface Placed {
  readonly device: string;
  readonly folder: string;
  readonly entry: Entry;
}

/** Several of one folder. */
export interface PlacedAll {
  readonly device: string;
  readonly folder: string;
  readonly entries: readonly Entry[];
}

export type Dialog =
  | { readonly kind: "folder"; readonly device: string; readonly folder: string }
  | ({ readonly kind: "rename" | "share" } & Placed)
  | ({ readonly kind: "move" } & PlacedAll);

/** Of one entry, or of all that are chosen. */
export interface OpenMenu extends PlacedAll {
  /** In the window. */
  readonly x: number;
  readonly y: number;
  /** Chooses the entry, in a list where that can be done. */
  readonly choose?: (() => void) | undefined;
}

interface Open {
  readonly dialog: Dialog | undefined;
  readonly menu: OpenMenu | undefined;
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

export function openMenu(menu: OpenMenu): void {
  useOpen.setState({ menu });
}

export function closeMenu(): void {
  useOpen.setState({ menu: undefined });
}

/** What they were about is no longer on the page. */
export function closeAll(): void {
  useOpen.setState({ dialog: undefined, menu: undefined });
}
