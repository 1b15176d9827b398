/** The whole record as a file, read page by page as the reader takes it. */
import type { AuditFilter, AuditQuery } from "@matrx/shared/audit.ts";
import { csvLine } from "./csv.ts";
import type { Page } from "./lines.ts";

export type ExportFormat = "jsonl" | "csv";

/** The record, oldest entry first. */
interface Source {
  page(query: AuditQuery): Promise<Page>;
}

const PAGE = 500;

const COLUMNS = [
  ...["seq", "at", "type", "device", "grant", "name", "credential", "tool", "effect", "status", "code"],
  ...["exit", "ms", "bytes", "call", "action", "state", "text", "details", "prev", "hash"],
];

const encoder = new TextEncoder();

/** One line for each entry. If the record cannot be read to its end, the stream fails: it never just ends early. */
export function exported(
  source: Source,
  filter: AuditFilter,
  format: ExportFormat,
): ReadableStream<Uint8Array> {
  let after: number | null = 0;
  const line = format === "csv" ? csvOf : (entry: string) => `${entry}\n`;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (format === "csv") controller.enqueue(encoder.encode(csvLine(COLUMNS)));
      },
      async pull(controller) {
        while (after !== null) {
          const page: Page = await source.page({ ...filter, after, limit: PAGE });
          after = page.next;
          if (page.entries.length > 0)
            return controller.enqueue(encoder.encode(page.entries.map(line).join("")));
        }
        controller.close();
      },
    },
    { highWaterMark: 1 },
  );
}

function csvOf(json: string): string {
  const entry = JSON.parse(json) as Record<string, unknown>;
  const {
    by,
    seq,
    at,
    type,
    device,
    tool,
    effect,
    status,
    code,
    exit,
    ms,
    bytes,
    call,
    action,
    state,
    prev,
    hash,
    ...rest
  } = entry;
  const { grant, name, credential } = (by ?? {}) as Record<string, unknown>;
  const { preview, message, summary, id: _, ...details } = rest;
  const text = preview ?? message ?? summary;
  return csvLine([
    ...[seq, at, type, device, grant, name, credential, tool, effect, status, code, exit, ms, bytes, call],
    ...[action, state, text, JSON.stringify(details), prev, hash],
  ]);
}
