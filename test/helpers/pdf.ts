/** PDF files of a test's own, written object by object (PDF 32000-1). */

export interface PdfOptions {
  /** What stands in the stream of a page's content, and the entries that say how; given: pages are empty but for it. */
  readonly content?: { readonly bytes: Buffer; readonly entries: string };
  /** More entries of the trailer. */
  readonly trailer?: string;
  /** Entries of the page tree's root in place of its own. */
  readonly root?: string;
}

/** Each page is a list of lines. */
export function pdfOf(
  pages: readonly (readonly string[])[],
  { content, trailer = "", root }: PdfOptions = {},
): Buffer {
  const kids = pages.map((_, index) => `${4 + 2 * index} 0 R`).join(" ");
  const objects: Buffer[] = [
    Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
    Buffer.from(root ?? `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`),
    Buffer.from("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"),
  ];
  for (const [index, lines] of pages.entries()) {
    const bytes = content?.bytes ?? contentOf(lines);
    const page = `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + 2 * index} 0 R`;
    objects.push(
      Buffer.from(`${page} /Resources << /Font << /F1 3 0 R >> >> >>`),
      Buffer.concat([
        Buffer.from(`<< /Length ${bytes.length} ${content?.entries ?? ""} >>\nstream\n`),
        bytes,
        Buffer.from("\nendstream"),
      ]),
    );
  }
  return written(objects, trailer);
}

function contentOf(lines: readonly string[]): Buffer {
  const shown = lines.map((line) => `(${line.replace(/[\\()]/g, "\\$&")}) Tj T*`);
  return Buffer.from(["BT /F1 12 Tf 14 TL 72 720 Td", ...shown, "ET"].join("\n"), "latin1");
}

function written(objects: readonly Buffer[], trailer: string): Buffer {
  const parts = [Buffer.from("%PDF-1.4\n")];
  let length = parts[0]?.length ?? 0;
  const offsets: number[] = [];
  for (const [index, object] of objects.entries()) {
    offsets.push(length);
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from("\nendobj\n")]);
    parts.push(part);
    length += part.length;
  }
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`;
  const end = `trailer << /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${length}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(table + end)]);
}
