/** The reference page for this server's OpenAPI document; its files are the relay's. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { agentError } from "@matrx/shared/errors.ts";
import { CONTENT_TYPES, PAGE_HEADERS } from "@matrx/shared/pages.ts";
import { CLONE_FOLDER, PACKAGE_FOLDER } from "../config/program.ts";

const WEB = CLONE_FOLDER ? join(CLONE_FOLDER, "web/static") : join(PACKAGE_FOLDER, "web");

/** One of its files. Throws MatrxError where the page is not installed. */
export async function referenceFile(name: string): Promise<Response> {
  const content = await readFile(join(WEB, name)).catch((cause) => {
    throw agentError("NOT_FOUND", "This page is not installed here", {
      hint: "GET /openapi.json has the same for programs; the relay has the page at /docs",
      cause,
    });
  });
  const type = CONTENT_TYPES.get(name.split(".").at(-1) ?? "") ?? "application/octet-stream";
  return new Response(content, { headers: { ...PAGE_HEADERS, "Content-Type": type } });
}
