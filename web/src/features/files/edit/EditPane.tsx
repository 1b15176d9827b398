/** A text file to be edited: as it was read, or as it was typed before in this tab. */
import { useQuery } from "../../../app/query.ts";
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
  const query = useQuery({
    queryKey: ["file", device, path, "edit"],
    queryFn: async ({ signal }): Promise<Version> => {
      const kept = keptDraft(device, path);
      // What was typed is there, whether the machine is or not.
      if (kept) return { text: kept.text, sha256: kept.base };
      return readVersion({ device, path }, signal);
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnMount: "always",
    gcTime: 0,
  });
  return (
    <Loaded query={query}>
      {(version) => (
        <EditView
          {...{ device, folder, name, version }}
          hasDraft={keptDraft(device, path) !== undefined}
          again={() => void query.refetch()}
          key={query.dataUpdatedAt}
        />
      )}
    </Loaded>
  );
}
