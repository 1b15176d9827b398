/** The folder that is in the page now, for what works with the very one that a person sees. */
import { useEffect } from "react";
import { create } from "zustand";
import type { Folder } from "./use-folder.ts";

export interface MountedFolder {
  readonly device: string;
  /** As in the address. */
  readonly path: string;
  /** Undefined: not read yet. */
  readonly count: number | undefined;
  /** It is being read. */
  readonly isReading: boolean;
  readonly error: Error | null;
}

/** Undefined: none is. */
export const useMountedFolder = create<{ readonly mounted: MountedFolder | undefined }>(() => ({
  mounted: undefined,
}));

interface Reading {
  readonly isFetching: boolean;
  readonly error: Error | null;
}

export function usePublishedFolder(
  device: string,
  path: string,
  { path: read, total }: Folder,
  { isFetching, error }: Reading,
): void {
  const count = read === undefined ? undefined : total;
  useEffect(() => {
    useMountedFolder.setState({ mounted: { device, path, count, isReading: isFetching, error } });
  }, [device, path, count, isFetching, error]);
  useEffect(() => () => useMountedFolder.setState({ mounted: undefined }), []);
}
