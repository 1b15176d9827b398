/** Headers and content types of our pages, at the relay and at the local server. */

/** Content types by file extension; other files are not served. */
export const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ["js", "text/javascript; charset=utf-8"],
  ["css", "text/css; charset=utf-8"],
  ["svg", "image/svg+xml"],
  ["png", "image/png"],
  ["ico", "image/x-icon"],
  ["woff2", "font/woff2"],
  ["webmanifest", "application/manifest+json"],
]);

/** Of every page and file. */
const COMMON = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Frame-Options": "DENY",
  "Cache-Control": "no-cache",
} as const;

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
  ...COMMON,
} as const;

/** The program at this computer that the app may speak to without the relay (guide, Connection). */
const LOCAL_SERVER = ["http", "ws"].flatMap((scheme) =>
  ["localhost", "127.0.0.1"].map((host) => `${scheme}://${host}:*`),
);

/** Of the app's page. */
export function appHeaders(nonce: string): Readonly<Record<string, string>> {
  return builtPageHeaders(nonce, LOCAL_SERVER);
}

/** Of the reference by itself, which reads its own server's description and nothing else. */
export function referenceHeaders(nonce: string): Readonly<Record<string, string>> {
  return builtPageHeaders(nonce, []);
}

/**
 * The libraries of a built page put styles into it: those with the nonce are taken. `style` attributes cannot have one, and
 * load nothing: images and fonts come from here alone. Its one Trusted Types policy is `web/src/base/trusted-types.ts`.
 */
function builtPageHeaders(nonce: string, connectsTo: readonly string[]): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "media-src 'self' data: blob:",
    "font-src 'self'",
    ["connect-src 'self'", ...connectsTo].join(" "),
    "manifest-src 'self'",
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types default",
  ];
  return { "Content-Security-Policy": policy.join("; "), ...COMMON };
}

/** The first part of each address of the app. */
const APP_PLACES: ReadonlySet<string> = new Set(["activity", "d", "docs", "fleet", "pair", "settings"]);

/** Whether the app's page answers at this path of an address. */
export function isAppPath(path: string): boolean {
  return path === "/" || (path.startsWith("/") && APP_PLACES.has(path.split("/")[1] ?? ""));
}

/**
 * Where an AI client sends a person's browser. The app's page answers here too, but only after the relay has checked the
 * client's request, so it is none of the addresses that the app keeps for itself.
 */
export const CONSENT_PATH = "/authorize";

/** Files of the build whose names change with their content. */
export const UNCHANGING = /^\/assets\/[\w.-]+$/;
/** How long browsers keep them. */
export const FOREVER = "public, max-age=31536000, immutable";

const NONCE_PLACE = "__CSP_NONCE__";

/** A built page as one response, with a nonce of its own for the styles that it adds. */
export function builtPage(html: string, headersOf: typeof appHeaders): Response {
  const nonce = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16))));
  return new Response(html.replaceAll(NONCE_PLACE, nonce), {
    headers: { "Content-Type": "text/html; charset=utf-8", ...headersOf(nonce) },
  });
}
