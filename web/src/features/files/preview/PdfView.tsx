/** A PDF, page by page: what is not looked at is not read. */
import { Text } from "@mantine/core";
import { GlobalWorkerOptions, getDocument, PDFDataRangeTransport, type PDFDocumentProxy } from "pdfjs-dist";
import { useEffect, useState } from "react";
import { readPiece } from "../../../relay/file-bytes.ts";
import { Problem } from "../../../ui/Problem.tsx";
import { scrolled } from "../../../ui/scrolled.ts";
import { Waiting } from "../../../ui/Waiting.tsx";
import type { Shown } from "./head.ts";
import { PdfPage } from "./PdfPage.tsx";
import classes from "./Preview.module.css";

GlobalWorkerOptions.workerPort ??= new Worker(new URL("./pdf-worker.ts", import.meta.url), {
  type: "module",
});

/** More pages make a page slow. */
const MOST_PAGES = 300;

export function PdfView({ file, head }: Shown) {
  const [state, setState] = useState<{ document?: PDFDocumentProxy; error?: unknown }>({});
  const { device, path } = file;
  useEffect(() => {
    const leaving = new AbortController();
    const range = new FileRange(head.size, head.bytes.slice());
    range.read = (from, end) => {
      const part = { from, length: end - from, etag: head.etag };
      readPiece({ device, path }, part, leaving.signal).then(
        ({ bytes }) => range.onDataRange(from, bytes),
        (error) => !leaving.signal.aborted && setState({ error }),
      );
    };
    const task = getDocument({ range, disableAutoFetch: true, enableXfa: false });
    task.promise.then(
      (document) => setState({ document }),
      (error) => !leaving.signal.aborted && setState({ error: unreadable(error) }),
    );
    return () => {
      leaving.abort();
      void task.destroy();
    };
  }, [device, path, head]);
  const { document, error } = state;
  if (error !== undefined) return <Problem error={error} />;
  if (!document) return <Waiting />;
  const pages = Math.min(document.numPages, MOST_PAGES);
  return (
    <>
      <div className={classes.pdf} {...scrolled("Pages")}>
        {Array.from({ length: pages }, (_, at) => at + 1).map((number) => (
          <PdfPage key={number} document={document} number={number} />
        ))}
      </div>
      <div className={classes.foot}>
        <Text size="sm" c="dimmed">
          {document.numPages === 1 ? "1 page" : `${document.numPages} pages`}
          {document.numPages > pages && `; the first ${pages} are shown here`}
        </Text>
      </div>
    </>
  );
}

class FileRange extends PDFDataRangeTransport {
  read: (from: number, end: number) => void = () => undefined;

  override requestDataRange(from: number, end: number): void {
    this.read(from, end);
  }
}

function unreadable(error: unknown): Error {
  const why = error instanceof Error && error.name === "PasswordException" ? "It has a password." : undefined;
  return Object.assign(new Error("This PDF can't be shown here."), { hint: why ?? "Download it instead." });
}
