/** The entries of a folder, in the order and with the filter that is wanted, and how many there are. */
import { useDebouncedValue } from "@mantine/hooks";
import { useEffect, useMemo } from "react";
import { callTool } from "../../calls/call-tool.ts";
import { useQuery } from "../../data/query.ts";
import { plural } from "../../ui/format.ts";
import { Problem } from "../../ui/Problem.tsx";
import { Waiting } from "../../ui/Waiting.tsx";
import { ChosenBar } from "./ChosenBar.tsx";
import { closeAll } from "./dialog.ts";
import classes from "./EntryGrid.module.css";
import { EntryGrid } from "./EntryGrid.tsx";
import { foundIn } from "./found.ts";
import { filtered, sorted } from "./order.ts";
import { DropZone } from "./uploads/DropZone.tsx";
import { useChoice } from "./use-choice.ts";
import type { Folder } from "./use-folder.ts";
import { useRights } from "./use-rights.ts";
import { useView } from "./view.ts";

interface Props {
  readonly device: string;
  readonly path: string;
  readonly folder: Folder;
  readonly text: string;
  readonly isReachable: boolean;
}

/** A pause in typing after which the machine is asked, in milliseconds. */
const TYPED = 300;
const SEARCH = { name: "search_files", effect: "read" } as const;

export function FolderList({ device, path, folder, text, isReachable }: Props) {
  const { entries, total, isWhole, readMore } = folder;
  const order = useView((view) => view.order);
  const search = useFound({ device, path, text: isWhole ? "" : text });
  const isSearched = !isWhole && text.trim() !== "";
  const shown = useMemo(() => {
    if (isSearched) return search.data?.entries ?? [];
    // The rest would come in between: until then, the machine's own order holds.
    return isWhole ? sorted(filtered(entries, text), order) : entries;
  }, [isSearched, search.data, isWhole, entries, text, order]);
  const chooser = useChoice(shown, isWhole ? entries : undefined);
  const rights = useRights(device);
  // A menu or a question about this folder goes with it.
  useEffect(() => closeAll, []);
  return (
    <DropZone device={device} folder={path} isOpen={isReachable && rights.upload}>
      {isSearched && search.error && <Problem error={search.error} retry={() => void search.refetch()} />}
      {isSearched && search.isLoading ? (
        <Waiting />
      ) : (
        <EntryGrid
          {...{ device, path, entries: shown, isSortable: isWhole, chooser }}
          {...(!isWhole && !isSearched && { readMore })}
        />
      )}
      {shown.length === 0 && !search.isLoading && (
        <div className={classes.empty}>
          {text.trim() === "" ? "This folder is empty." : "Nothing here has such a name."}
        </div>
      )}
      <ChosenBar {...{ device, path, chooser }} />
      <div className={classes.count} role="status">
        {countOf({ shown: shown.length, isSearched, isCut: search.data?.isCut === true, text, folder })}
        {!isWhole && ` ${plural(total, "entry", "entries")}: too many to be sorted otherwise than by name.`}
      </div>
    </DropZone>
  );
}

interface Counted {
  readonly shown: number;
  readonly isSearched: boolean;
  readonly isCut: boolean;
  readonly text: string;
  readonly folder: Folder;
}

function countOf({ shown, isSearched, isCut, text, folder: { isWhole, entries, total } }: Counted): string {
  if (isSearched) return `${isCut ? "The first " : ""}${shown.toLocaleString()} found by the machine.`;
  if (text.trim() !== "") return `${shown.toLocaleString()} of ${total.toLocaleString()}`;
  if (isWhole) return plural(total, "entry", "entries");
  return `${entries.length.toLocaleString()} of`;
}

/** A folder that is not here as a whole is searched by its machine. */
function useFound({ device, path, text }: { device: string; path: string; text: string }) {
  const [wanted] = useDebouncedValue(text.trim(), TYPED);
  const showHidden = useView((view) => view.showHidden);
  const input = { query: wanted, path, recursive: false, limit: 5_000, show_hidden: showHidden };
  return useQuery({
    queryKey: ["folder", device, path, "found", input],
    queryFn: async ({ signal }) => foundIn((await callTool(device, SEARCH, input, { signal })).metadata),
    enabled: text.trim() !== "" && wanted !== "",
  });
}
