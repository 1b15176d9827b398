/** The description of this server, and the page to read it, whose files are the relay's. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { MatrxError } from "@matrx/shared/errors.ts";
import { CONTENT_TYPES, PAGE_HEADERS, REFERENCE_FILES } from "@matrx/shared/pages.ts";
import { CLONE_FOLDER, PACKAGE_FOLDER } from "../config/program.ts";
import type { Answer } from "./answer.ts";

const WEB = join(CLONE_FOLDER ?? PACKAGE_FOLDER, "web");

let text: Promise<string> | undefined;

/** `GET /openapi.json`: made when it is first asked for. */
export const describe: Answer = async (_request, response) => {
  text ??= import("./openapi.ts").then(({ localDocument }) => JSON.stringify(localDocument()));
  response.writeHead(200, { "Content-Type": "application/json" });
  response.end(await text);
};

/** `GET /docs`. Throws MatrxError where the page is not installed. */
export const showReference: Answer = fileAnswer("docs.html");

/** What the page loads, by `GET /path`. */
export const REFERENCE_ROUTES: ReadonlyMap<string, Answer> = new Map(
  REFERENCE_FILES.map((name) => [`GET /${name}`, fileAnswer(name)]),
);

function fileAnswer(name: string): Answer {
  return async (_request, response) => {
    const content = await readFile(join(WEB, name)).catch((cause) => {
      throw notInstalled(cause);
    });
    const type = CONTENT_TYPES.get(name.split(".").at(-1) ?? "") ?? "application/octet-stream";
    response.writeHead(200, { ...PAGE_HEADERS, "Content-Type": type });
    response.end(content);
  };
}

function notInstalled(cause: unknown): MatrxError {
  return new MatrxError(
    {
      code: "NOT_FOUND",
      message: "This page is not installed here",
      hint: "GET /openapi.json has the same for programs; the relay has the page at /docs",
      hop: "agent",
    },
    cause,
  );
}
