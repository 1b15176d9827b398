/** A text that is no UTF-8: the machine knows more encodings than can be told from here. */

import { callTool } from "../../../calls/call-tool.ts";
import { useQuery } from "../../../data/query.ts";
import type { PlacedFile } from "../../../relay/file-bytes.ts";
import { Waiting } from "../../../ui/Waiting.tsx";
import type { Shown } from "./head.ts";
import { type Encoding, OLDER } from "./head.ts";
import { TextView } from "./TextView.tsx";

export function OlderText(shown: Shown) {
  const { file } = shown;
  const query = useQuery({
    queryKey: ["file", file.device, file.path, "encoding"],
    queryFn: ({ signal }) => encodingAt(file, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  if (query.isPending) return <Waiting />;
  return <TextView {...shown} encoding={query.data ?? "windows-1252"} />;
}

/** Throws ApiError: also if the person may read the bytes, but not call the tool. */
async function encodingAt({ device, path }: PlacedFile, signal: AbortSignal): Promise<Encoding> {
  const input = { file_path: path, limit: 1 };
  const { metadata } = await callTool(device, { name: "Read", effect: "read" }, input, { signal });
  return OLDER.find((known) => known === metadata.encoding) ?? "windows-1252";
}
