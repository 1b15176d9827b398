/** The pages: static files, with headers that keep foreign code from running. */
import { appHeaders, CONTENT_TYPES, PAGE_HEADERS } from "@matrx/shared/pages.ts";
import type { Context } from "hono";
import { makeNonce } from "../auth/session-proof.ts";
import type { RelayEnv, RelayRoute } from "./route.ts";

/** Files by the address that people see. */
const PAGES: ReadonlyMap<string, string> = new Map([
  ["/", "/plain.html"],
  ["/docs", "/docs.html"],
  ["/authorize", "/consent.html"],
]);

/** The app's addresses: one page shows them all. */
const APP_PATH = /^\/app(?:\/|$)/;
const APP = "/index.html";
const NONCE_PLACE = "__CSP_NONCE__";
const PROOF_NONCE_PLACE = "__PROOF_NONCE__";

/** The names of these files change with their content. */
const UNCHANGING = /^\/assets\/[\w.-]+$/;
const FOREVER = "public, max-age=31536000, immutable";

export const docsRoute: RelayRoute = {
  method: "GET",
  path: "/docs",
  id: "getDocs",
  tag: "Relay",
  summary: "This description, for people",
  access: "anyone",
  answers: { 200: { description: "A page", other: { "text/html": "The page" } } },
  errors: ["NOT_FOUND"],
  answer: page,
};

/** Serves a file of the page. workerd's disk service lists folders, so only names with a known extension are passed on. */
export async function page(c: Context<RelayEnv>): Promise<Response> {
  const { pathname } = new URL(c.req.url);
  const name = PAGES.get(pathname) ?? pathname;
  if (APP_PATH.test(pathname) || name === APP) return appPage(c);
  const contentType = contentTypeOf(name);
  if (!contentType) return c.notFound();
  const compressed = wantsBrotli(c) ? await fileAt(c, `${name}.br`) : undefined;
  const found = compressed ?? (await fileAt(c, name));
  if (!found) return c.notFound();
  const etag = found.headers.get("ETag");
  const headers = new Headers({ ...PAGE_HEADERS, "Content-Type": contentType, ...(etag && { ETag: etag }) });
  if (UNCHANGING.test(name)) headers.set("Cache-Control", FOREVER);
  if (!compressed) return new Response(found.body, { status: found.status, headers });
  headers.set("Content-Encoding", "br");
  headers.set("Vary", "Accept-Encoding");
  return new Response(found.body, { status: found.status, headers, encodeBody: "manual" });
}

/** The app's page, with a nonce of its own for the styles that it adds, and one for the first proof of its session. */
async function appPage(c: Context<RelayEnv>): Promise<Response> {
  const found = await c.env.ASSETS.fetch(new URL(APP, c.req.url));
  if (found.status !== 200) return c.notFound();
  const nonce = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16))));
  const text = (await found.text())
    .replaceAll(NONCE_PLACE, nonce)
    .replace(PROOF_NONCE_PLACE, await makeNonce(c.env));
  return new Response(text, { headers: { "Content-Type": contentTypeOf(APP) ?? "", ...appHeaders(nonce) } });
}

/** Cloudflare compresses by itself; for the embedded relay, the build did. */
function wantsBrotli(c: Context<RelayEnv>): boolean {
  return c.env.EMBEDDED !== undefined && /\bbr\b/.test(c.req.header("Accept-Encoding") ?? "");
}

async function fileAt(c: Context<RelayEnv>, name: string): Promise<Response | undefined> {
  const etag = c.req.header("If-None-Match");
  const request = new Request(new URL(name, c.req.url), { headers: etag ? { "If-None-Match": etag } : {} });
  const found = await c.env.ASSETS.fetch(request);
  return found.status === 200 || found.status === 304 ? found : undefined;
}

function contentTypeOf(name: string): string | undefined {
  return CONTENT_TYPES.get(name.split(".").at(-1) ?? "");
}
