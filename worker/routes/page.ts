/** The pages: static files, with headers that keep foreign code from running. */
import { CONTENT_TYPES, PAGE_HEADERS } from "@matrx/shared/pages.ts";
import type { Context } from "hono";
import type { RelayEnv, RelayRoute } from "./route.ts";

/** Files by the address that people see. */
const PAGES: ReadonlyMap<string, string> = new Map([
  ["/", "/index.html"],
  ["/docs", "/docs.html"],
  ["/authorize", "/consent.html"],
]);

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
  const url = new URL(c.req.url);
  url.pathname = PAGES.get(url.pathname) ?? url.pathname;
  const contentType = CONTENT_TYPES.get(url.pathname.split(".").at(-1) ?? "");
  if (!contentType) return c.notFound();
  const found = await c.env.ASSETS.fetch(new Request(url, { headers: passedOn(c.req.raw) }));
  if (found.status !== 200 && found.status !== 304) return c.notFound();
  return new Response(found.body, { status: found.status, headers: headersOf(found, contentType) });
}

function passedOn(request: Request): Headers {
  const etag = request.headers.get("If-None-Match");
  return new Headers(etag ? { "If-None-Match": etag } : {});
}

function headersOf(found: Response, contentType: string): Headers {
  const etag = found.headers.get("ETag");
  return new Headers({ "Content-Type": contentType, ...PAGE_HEADERS, ...(etag && { ETag: etag }) });
}
