/** Saves the record as a file: all of it, or what the filter shows. */
import { IconDownload } from "@tabler/icons-react";
import { openBytes } from "../../../relay/api.ts";
import { unreachableError } from "../../../relay/api-error.ts";
import { ActionButton } from "../../../ui/ActionButton.tsx";
import { saveFile } from "../../../ui/save-file.ts";
import { type Filter, isFiltered, queryOf } from "./entries.ts";

export function SaveButtons({ filter }: { filter: Filter }) {
  const what = isFiltered(filter) ? "these" : "all";
  const save = async (format: "jsonl" | "csv") => {
    const response = await openBytes("GET /v1/audit/export", { query: { format, ...queryOf(filter) } });
    const file = await response.blob().catch(() => {
      throw unreachableError();
    });
    saveFile(`matrx-record.${format}`, file);
  };
  return (
    <>
      <ActionButton
        size="sm"
        variant="default"
        leftSection={<IconDownload size={14} aria-hidden />}
        work={() => save("jsonl")}
      >
        Save {what} as JSON lines
      </ActionButton>
      <ActionButton
        size="sm"
        variant="default"
        leftSection={<IconDownload size={14} aria-hidden />}
        work={() => save("csv")}
      >
        Save {what} as CSV
      </ActionButton>
    </>
  );
}
