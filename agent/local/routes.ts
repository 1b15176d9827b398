/** The local server's whole HTTP interface: what is mounted, and what is described. */
import * as api from "@matrx/shared/api.ts";
import { readBody } from "@matrx/shared/caller/body.ts";
import { cancelRoute } from "@matrx/shared/caller/calls.ts";
import { eventsRoute } from "@matrx/shared/caller/events.ts";
import { callBodySchema } from "@matrx/shared/caller/from-caller.ts";
import { guideRoutes } from "@matrx/shared/caller/guide.ts";
import { noRouteIn } from "@matrx/shared/caller/no-route.ts";
import { PATH } from "@matrx/shared/caller/parts.ts";
import type { CallerRoute } from "@matrx/shared/caller/route.ts";
import { notUpgradedError, socketOperation } from "@matrx/shared/caller/socket.ts";
import { toolRoutes } from "@matrx/shared/caller/tools.ts";
import type { ErrorCode } from "@matrx/shared/errors.ts";
import * as bodies from "@matrx/shared/openapi/bodies.ts";
import type { Operation, Surface } from "@matrx/shared/openapi/operation.ts";
import { toolDescriptionSchema } from "@matrx/shared/tool.ts";
import * as z from "zod";
import { AGENT_VERSION } from "../config/program.ts";
import { trigger, triggeredSchema, triggerOperation, triggerSchema } from "./events.ts";
import type { LocalPort } from "./port.ts";
import { referencePage } from "./reference.ts";

const greetingSchema = z.object({ status: z.literal("ok"), name: z.literal("matrx"), version: z.string() });

/** Routes that require the token. */
export const callerRoutes: readonly CallerRoute<LocalPort>[] = [
  ...guideRoutes,
  // Requests wait for the end of their call, however long it takes.
  ...toolRoutes({}),
  cancelRoute,
  eventsRoute,
  {
    ...triggerOperation,
    answer: async (port, { raw }) =>
      Response.json(trigger(port.hub, await readBody(raw, port.body, triggerSchema))),
  },
  {
    ...socketOperation,
    answer: () => {
      throw notUpgradedError();
    },
  },
];

export interface OpenRoute extends Operation {
  readonly answer: () => Response | Promise<Response>;
}

/** Routes that reveal nothing about the machine, so they need no token. */
export const openRoutes: readonly OpenRoute[] = [
  {
    method: "GET",
    path: "/",
    id: "greet",
    tag: "Server",
    summary: "Is it there?",
    access: "anyone",
    answers: {
      200: {
        description: "It is",
        schema: greetingSchema,
        example: { status: "ok", name: "matrx", version: "0.1.0" },
      },
    },
    answer: () => Response.json({ status: "ok", name: "matrx", version: AGENT_VERSION }),
  },
  {
    method: "GET",
    path: "/health",
    id: "getHealth",
    tag: "Server",
    summary: "Is it well?",
    access: "anyone",
    answers: { 200: { description: "It is", schema: bodies.healthSchema, example: { status: "ok" } } },
    answer: () => Response.json({ status: "ok" }),
  },
  {
    method: "GET",
    path: "/openapi.json",
    id: "getDescription",
    tag: "Server",
    summary: "This description",
    access: "anyone",
    answers: { 200: { description: "OpenAPI 3.1", schema: bodies.openApiSchema } },
    answer: describe,
  },
  {
    method: "GET",
    path: "/docs",
    id: "getDocs",
    tag: "Server",
    summary: "This description, for people",
    access: "anyone",
    answers: { 200: { description: "A page", other: { "text/html": "The page" } } },
    errors: ["NOT_FOUND"],
    answer: referencePage,
  },
];

const OPERATIONS: readonly Operation[] = [...callerRoutes, ...openRoutes];

/** The error for a path that has no route here. */
export const noRouteError = noRouteIn(OPERATIONS);

export const LOCAL: Surface = {
  title: "Matrx, local server",
  version: AGENT_VERSION,
  description:
    "This machine's tools at http://localhost, for its own programs, while `matrx serve` is running. Every error is problem+json (RFC 9457) with a `code` and usually a `hint` on what to do. Requests from pages need an origin allowed with `--allow-origin`.",
  tags: {
    Tools: "What this machine can do, and how to call it",
    Guide: "The guide's REST interface",
    Calls: "Calls that are running",
    Events: "What this machine reports",
    Links: "WebSockets",
    Server: "The server itself",
  },
  security: {
    bearer: { type: "http", scheme: "bearer", description: "`matrx serve` prints where the token is" },
  },
  path: PATH,
  schemas: {
    ...api,
    ...bodies,
    callBodySchema,
    toolDescriptionSchema,
    greetingSchema,
    triggerSchema,
    triggeredSchema,
  },
  operations: OPERATIONS,
  implied,
};

/** Any request may have a wrong Host or Origin, or hit an internal error; the rest follows from its access and body. */
function implied({ access, body }: Operation): ErrorCode[] {
  const codes: ErrorCode[] = ["PERMISSION_DENIED", "INTERNAL"];
  if (access === "caller") codes.push("UNAUTHENTICATED");
  if (body) codes.push("INVALID_MESSAGE", "INVALID_PARAMETERS", "PAYLOAD_TOO_LARGE");
  return codes;
}

let text: Promise<string> | undefined;

/** The OpenAPI document, generated on first request. */
async function describe(): Promise<Response> {
  text ??= import("@matrx/shared/openapi/document.ts").then(({ openApiDocument }) =>
    JSON.stringify(openApiDocument(LOCAL)),
  );
  return new Response(await text, { headers: { "Content-Type": "application/json" } });
}
