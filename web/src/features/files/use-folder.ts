/** What is in a folder: a page at a time, the first ones by themselves. */
import type { InfiniteData } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { callTool } from "../../calls/call-tool.ts";
import { queryClient, useInfiniteQuery } from "../../data/query.ts";
import { FOLDER_PIECE } from "../../relay/page-looks.ts";
import { type Entry, type FolderPage, pageIn } from "./entries.ts";
import { HOME } from "./paths.ts";

/** So many are read without anybody asking: they can be sorted by anything. */
const READ_ALL_UP_TO = 20_000;

export interface FolderWish {
  readonly device: string;
  readonly path: string;
  readonly showHidden: boolean;
}

export interface Folder {
  /** Undefined: nothing was read yet. */
  readonly path: string | undefined;
  readonly entries: readonly Entry[];
  readonly total: number;
  /** All of them are here. */
  readonly isWhole: boolean;
  /** Reads on, if there is more and nothing is on its way. */
  readMore(): void;
}

export function useFolder(wish: FolderWish, isReachable: boolean) {
  const query = useInfiniteQuery<FolderPage, readonly unknown[], string | undefined>({
    queryKey: folderKey(wish),
    queryFn: ({ pageParam, signal }) => readFolder(wish, pageParam, signal),
    initialPageParam: undefined,
    getNextPageParam: ({ next }) => next,
    enabled: isReachable,
  });
  const { data: read, hasNextPage, isFetching, fetchNextPage, error } = query;
  const data = useMemo(() => read && withAll(read), [read]);
  const readMore = () => {
    if (hasNextPage && !isFetching && !error) void fetchNextPage();
  };
  const isShort = data !== undefined && data.total <= READ_ALL_UP_TO;
  useEffect(() => {
    if (isShort && hasNextPage && !isFetching && !error) void fetchNextPage();
  }, [isShort, hasNextPage, isFetching, error, fetchNextPage]);
  const folder: Folder = {
    path: data?.path,
    entries: data?.entries ?? NONE,
    total: data?.total ?? 0,
    isWhole: data !== undefined && !hasNextPage,
    readMore,
  };
  return { folder, query };
}

const NONE: readonly Entry[] = [];

/** One page. Throws ApiError. */
export async function readFolder(
  { device, path, showHidden }: FolderWish,
  after: string | undefined,
  signal: AbortSignal,
): Promise<FolderPage> {
  const input = {
    // Without a path it is where the person's folders begin.
    ...(path !== HOME && { path }),
    ...(after !== undefined && { after }),
    show_hidden: showHidden,
    limit: FOLDER_PIECE,
  };
  const tool = { name: "ListDirectory", effect: "read" } as const;
  return pageIn((await callTool(device, tool, input, { signal })).metadata);
}

/** Something in the folder was changed. */
export function forgetFolder(device: string, path: string): void {
  void queryClient.invalidateQueries({ queryKey: ["folder", device, path] });
}

function folderKey({ device, path, showHidden }: FolderWish): readonly unknown[] {
  return ["folder", device, path, showHidden];
}

interface AllEntries {
  readonly path: string;
  readonly entries: readonly Entry[];
  readonly total: number;
}

function withAll({ pages }: InfiniteData<FolderPage, unknown>): AllEntries {
  const last = pages.at(-1);
  const entries = pages.length === 1 ? (pages[0]?.entries ?? []) : pages.flatMap((page) => page.entries);
  return { path: last?.path ?? "/", entries, total: last?.total ?? 0 };
}
