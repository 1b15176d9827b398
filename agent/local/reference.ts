/** The reference page for this server's OpenAPI document: a part of the relay's web app, which is built with it. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { agentError } from "@matrx/shared/errors.ts";
import {
  builtPage,
  CONTENT_TYPES,
  FOREVER,
  PAGE_HEADERS,
  referenceHeaders,
  UNCHANGING,
} from "@matrx/shared/pages.ts";
import { CLONE_FOLDER, PACKAGE_FOLDER } from "../config/program.ts";

const WEB = CLONE_FOLDER ? join(CLONE_FOLDER, "dist/reference") : join(PACKAGE_FOLDER, "web");

/** What the page loads: in Hono's syntax. */
export const REFERENCE_PATHS = ["/icon.svg", "/color-scheme.js", "/assets/:name{[\\w.-]+}"] as const;

/** Throws MatrxError where the page is not built or installed. */
export async function referencePage(): Promise<Response> {
  const html = await readWeb("reference.html");
  return builtPage(html.toString("utf8"), referenceHeaders);
}

/** A file that the page loads. Throws MatrxError where there is none. */
export async function referenceFile(path: string): Promise<Response> {
  const type = CONTENT_TYPES.get(path.split(".").at(-1) ?? "");
  if (type === undefined) throw notThere();
  const content = await readWeb(path);
  const headers = new Headers({ ...PAGE_HEADERS, "Content-Type": type });
  if (UNCHANGING.test(path)) headers.set("Cache-Control", FOREVER);
  return new Response(content, { headers });
}

function readWeb(path: string): Promise<Buffer<ArrayBuffer>> {
  return readFile(join(WEB, path)).catch((cause: unknown) => {
    throw notThere(cause);
  });
}

function notThere(cause?: unknown) {
  const build = CLONE_FOLDER ? `Run \`npm run build\` in the clone. ` : "";
  return agentError("NOT_FOUND", "This page is not installed here", {
    hint: `${build}GET /openapi.json has the same for programs; the relay has the page at /docs`,
    cause,
  });
}
