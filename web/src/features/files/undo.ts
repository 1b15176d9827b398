/** What was moved to the trash last from this page, which can be put back. */
import { create } from "zustand";
import { onForget } from "../../base/tab-store.ts";

export interface Deleted {
  readonly device: string;
  readonly path: string;
  /** Where the machine keeps it. */
  readonly trash: string;
  readonly name: string;
}

const NOTHING: readonly Deleted[] = [];

export const useUndo = create<{ readonly deleted: readonly Deleted[] }>(() => ({ deleted: NOTHING }));

export function noteUndo(deleted: readonly Deleted[]): void {
  useUndo.setState({ deleted });
}

export function forgetUndo(): void {
  useUndo.setState({ deleted: NOTHING });
}

onForget(forgetUndo);
