/** Headers and content types of our pages, at the relay and at the local server. */

/** Content types by file extension; other files are not served. */
export const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ["html", "text/html; charset=utf-8"],
  ["js", "text/javascript; charset=utf-8"],
  ["css", "text/css; charset=utf-8"],
  ["svg", "image/svg+xml"],
  ["png", "image/png"],
  ["ico", "image/x-icon"],
]);

/** Nothing foreign may run, be loaded, or learn of the page. */
export const PAGE_HEADERS = {
  "Content-Security-Policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "media-src data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Frame-Options": "DENY",
  "Cache-Control": "no-cache",
} as const;

/** The files of the reference at `/docs`, from `web/`. */
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
