/** What every page of ours is sent with, by the relay and by the local server. */

/** Content types by a file's ending; others are not served. */
export const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ["html", "text/html; charset=utf-8"],
  ["js", "text/javascript; charset=utf-8"],
  ["css", "text/css; charset=utf-8"],
  ["svg", "image/svg+xml"],
  ["png", "image/png"],
  ["ico", "image/x-icon"],
]);

/** Nothing foreign runs, is loaded, or is told of. */
export const PAGE_HEADERS = {
  "Content-Security-Policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cache-Control": "no-cache",
} as const;

/** The files of the reference at `/docs`, which lie in `web/`. */
export const REFERENCE_FILES = [
  "docs.html",
  "docs.js",
  "docs-operation.js",
  "docs-schema.js",
  "docs-text.js",
  "docs.css",
  "dom.js",
  "style.css",
  "icon.svg",
] as const;
