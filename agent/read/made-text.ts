/** Text that was made of a file that is not shown as it is: read by lines, as files are. */
import { MatrxError } from "@matrx/shared/errors.ts";
import type { OpenFile } from "../fs/open-file.ts";
import { sourceOf } from "../text/chunks.ts";
import { counted } from "../text/counted.ts";
import { LineIndex } from "../text/line-index.ts";
import { readTextPage, type TextPage } from "../text/page.ts";
import { factsOf } from "./facts.ts";

export interface LinesWanted {
  readonly offset: number;
  readonly limit: number;
  /** Characters of a page. */
  readonly chars: number;
  readonly signal: AbortSignal;
}

/** Throws MatrxError when there are no such lines. */
export async function pageOfText(file: OpenFile, text: string, wanted: LinesWanted): Promise<TextPage> {
  const bytes = Buffer.from(text);
  const stat = { ...file.stat, size: BigInt(bytes.length) };
  const made = { source: sourceOf(bytes), stat, encoding: "utf-8", declared: true, bomBytes: 0 } as const;
  const page = await readTextPage(made, { ...wanted, around: () => 1 }, new LineIndex());
  if (!page || (page.lines.length === 0 && bytes.length > 0)) throw beyondEnd(file, wanted.offset, page);
  return page;
}

export function beyondEnd(file: OpenFile, offset: number, page: TextPage | undefined): MatrxError {
  const { shown } = file.place;
  return new MatrxError({
    code: "INVALID_PARAMETERS",
    message: `offset ${offset} is beyond the end of ${shown}: it has ${counted(page?.totalLines ?? 0, "line")}`,
    hint: `Use an offset of at most ${page?.totalLines}, or a negative one to read from the end`,
    hop: "tool",
    details: { ...factsOf(file), field: "offset", total_lines: page?.totalLines },
  });
}
