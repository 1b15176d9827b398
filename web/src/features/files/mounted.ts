/** The folder that is in the page now, for what works with the very one that a person sees. */
import { useEffect } from "react";
import { create } from "zustand";
import { onForget } from "../../base/tab-store.ts";
import { HOME } from "./paths.ts";
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

interface Folders {
  /** Undefined: none is. */
  readonly mounted: MountedFolder | undefined;
  /** The folder of each machine that this page showed last. */
  readonly last: ReadonlyMap<string, string>;
}

const NONE: Folders = { mounted: undefined, last: new Map() };

export const useMountedFolder = create<Folders>(() => NONE);

onForget(() => useMountedFolder.setState(NONE));

export function publishFolder(mounted: MountedFolder): void {
  const { device, path, count } = mounted;
  const isShown = path !== HOME && count !== undefined;
  useMountedFolder.setState(({ last }) => ({
    mounted,
    last: isShown ? new Map(last).set(device, path) : last,
  }));
}

/** The page has none any more. */
export function withdrawFolder(): void {
  useMountedFolder.setState({ mounted: undefined });
}

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
    publishFolder({ device, path, count, isReading: isFetching, error });
  }, [device, path, count, isFetching, error]);
  useEffect(() => withdrawFolder, []);
}
