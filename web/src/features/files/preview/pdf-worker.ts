/** Reads PDF files aside from the page. */
import "pdfjs-dist/build/pdf.worker.mjs";
