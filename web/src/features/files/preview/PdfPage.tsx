/** One page of a PDF, drawn when it comes into view, with its text for screen readers. */
import type { PDFDocumentProxy } from "pdfjs-dist";
import { useEffect, useRef, useState } from "react";
import classes from "./Preview.module.css";

interface Props {
  readonly document: PDFDocumentProxy;
  readonly number: number;
}

export function PdfPage({ document, number }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isSeen, setSeen] = useState(false);
  const [text, setText] = useState("");
  useEffect(() => {
    const { current } = box;
    if (!current) return;
    const watch = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) setSeen(true);
      },
      { rootMargin: "600px" },
    );
    watch.observe(current);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    if (!isSeen) return;
    let isLeft = false;
    const draw = async () => {
      const page = await document.getPage(number);
      const { current } = canvas;
      if (isLeft || !current) return;
      const width = Math.max(current.parentElement?.clientWidth ?? 600, 200);
      const plain = page.getViewport({ scale: 1 });
      const scale = (width / plain.width) * Math.min(devicePixelRatio, 2);
      const viewport = page.getViewport({ scale });
      current.width = viewport.width;
      current.height = viewport.height;
      await page.render({ canvas: current, viewport }).promise;
      const content = await page.getTextContent();
      if (isLeft) return;
      setText(content.items.map((item) => ("str" in item ? item.str : "")).join(" "));
    };
    // A page that can't be drawn stays empty; the others do not.
    void draw().catch(() => undefined);
    return () => {
      isLeft = true;
    };
  }, [document, number, isSeen]);
  return (
    <div ref={box} className={classes.pdfPage}>
      <canvas ref={canvas} role="img" aria-label={`Page ${number}`} />
      <p className={classes.unseen}>{text}</p>
    </div>
  );
}
