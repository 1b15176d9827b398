/** A folder in which somebody wants a terminal, there or on the page of terminals. No address of a page can open one. */
import { create } from "zustand";

interface Wish {
  readonly device: string;
  readonly folder: string;
}

export const useWish = create<{ readonly wish: Wish | undefined }>(() => ({ wish: undefined }));

export function wishTerminal(device: string, folder: string): void {
  useWish.setState({ wish: { device, folder } });
}

/** Once; undefined: nobody wants one there. */
export function takeWish(device: string): string | undefined {
  const { wish } = useWish.getState();
  if (wish?.device !== device) return undefined;
  useWish.setState({ wish: undefined });
  return wish.folder;
}
