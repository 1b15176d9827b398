/** A text file to be edited: as it was read, or as it was typed before in this tab. */
import { queryClient, useQuery } from "../../../data/query.ts";
import { Loaded } from "../../../ui/Loaded.tsx";
import { joined } from "../paths.ts";
import { keptDraft } from "./draft.ts";
import { EditView } from "./EditView.tsx";
import { readVersion, type Version } from "./versions.ts";

interface Props {
  readonly device: string;
  readonly folder: string;
  readonly name: string;
}

export function EditPane({ device, folder, name }: Props) {
  const path = joined(folder, name);
  const queryKey = ["file", device, path, "edit"];
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<Version> => {
      const kept = keptDraft(device, path);
      // What was typed is there, whether the machine is or not.
      if (kept) return { text: kept.text, sha256: kept.base };
      return readVersion({ device, path }, signal);
    },
    // Read once: an editor that begins anew, as when the connection is back, would lose what is typed meanwhile.
    enabled: ({ state }) => state.data === undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return (
    <Loaded query={query}>
      {(version) => (
        <EditView
          {...{ device, folder, name, version }}
          hasDraft={keptDraft(device, path) !== undefined}
          begin={(next) => queryClient.setQueryData(queryKey, next)}
          key={query.dataUpdatedAt}
        />
      )}
    </Loaded>
  );
}
