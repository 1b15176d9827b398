/** The last thing that was moved to the trash from this page, which can be put back. */
import { create } from "zustand";
import { onForget } from "../../app/tab-store.ts";

export interface Deleted {
  readonly device: string;
  readonly path: string;
  /** Where the machine keeps it. */
  readonly trash: string;
  readonly name: string;
}

export const useUndo = create<{ readonly deleted: Deleted | undefined }>(() => ({ deleted: undefined }));

export function noteUndo(deleted: Deleted): void {
  useUndo.setState({ deleted });
}

export function forgetUndo(): void {
  useUndo.setState({ deleted: undefined });
}

onForget(forgetUndo);
