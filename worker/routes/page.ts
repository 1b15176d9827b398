/** The app: its page at each of its addresses, and its files, with headers that keep foreign code from running. */
import {
  appHeaders,
  builtPage,
  CONTENT_TYPES,
  FOREVER,
  isAppPath,
  PAGE_HEADERS,
  UNCHANGING,
} from "@matrx/shared/pages.ts";
import type { Context } from "hono";
import { makeNonce } from "../auth/session-proof.ts";
import type { RelayEnv, RelayRoute } from "../route.ts";

const APP = "/index.html";
/** Where the page has the nonce for the first proof of its session. */
const PROOF_NONCE_PLACE = "__PROOF_NONCE__";

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

/** Serves the app's page or a file. workerd's disk service lists folders, so only names with a known extension are passed on. */
export async function page(c: Context<RelayEnv>): Promise<Response> {
  const { pathname } = new URL(c.req.url);
  if (isAppPath(pathname)) return appPage(c);
  const contentType = contentTypeOf(pathname);
  if (!contentType) return isVisit(c) ? missingPage(c) : c.notFound();
  const compressed = wantsBrotli(c) ? await fileAt(c, `${pathname}.br`) : undefined;
  const found = compressed ?? (await fileAt(c, pathname));
  if (!found) return c.notFound();
  const etag = found.headers.get("ETag");
  const headers = new Headers({ ...PAGE_HEADERS, "Content-Type": contentType, ...(etag && { ETag: etag }) });
  if (UNCHANGING.test(pathname)) headers.set("Cache-Control", FOREVER);
  if (!compressed) return new Response(found.body, { status: found.status, headers });
  headers.set("Content-Encoding", "br");
  headers.set("Vary", "Accept-Encoding");
  return new Response(found.body, { status: found.status, headers, encodeBody: "manual" });
}

/** The app's page. The nonces in it are this response's. */
export async function appPage(c: Context<RelayEnv>): Promise<Response> {
  const found = await c.env.ASSETS.fetch(new URL(APP, c.req.url));
  if (found.status !== 200) return c.notFound();
  const html = (await found.text()).replace(PROOF_NONCE_PLACE, await makeNonce(c.env));
  return builtPage(html, appHeaders);
}

/** Somebody goes to an address that is none. The app says so, and leads on; programs get a problem. */
async function missingPage(c: Context<RelayEnv>): Promise<Response> {
  const page = await appPage(c);
  return page.ok ? new Response(page.body, { status: 404, headers: page.headers }) : page;
}

/** A browser tells it of itself, and no page can make it up. */
function isVisit(c: Context<RelayEnv>): boolean {
  return c.req.header("Sec-Fetch-Dest") === "document";
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
