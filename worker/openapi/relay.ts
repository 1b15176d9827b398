/** The relay's whole interface, and the OpenAPI document of it. */
import * as api from "@matrx/shared/api.ts";
import type { ErrorCode } from "@matrx/shared/errors.ts";
import * as bodies from "@matrx/shared/openapi/bodies.ts";
import { type OpenApiDocument, openApiDocument } from "@matrx/shared/openapi/document.ts";
import type { Operation, Surface } from "@matrx/shared/openapi/operation.ts";
import { policySchema, policySetSchema } from "@matrx/shared/policy.ts";
import { toolDescriptionSchema } from "@matrx/shared/tool.ts";
import { accountOperations } from "./account.ts";
import { deviceOperations } from "./devices.ts";
import { eventOperations } from "./events.ts";
import { pageOperations } from "./pages.ts";
import { pairingOperations } from "./pairings.ts";
import { PATH } from "./parts.ts";
import { toolOperations } from "./tools.ts";

export const RELAY: Surface = {
  title: "Matrx Relay",
  version: "0.1.0",
  description:
    "Reach home machines from anywhere: call their tools over REST and WebSocket. Every error is problem+json (RFC 9457) with a `code`, usually a `hint` on what to do, and `hop`, where it came from. docs/protocol.md describes frames, limits and the life of a call. Fields may be added to answers; ignore unknown ones.",
  tags: {
    Devices: "The machines of an account",
    Tools: "What a machine can do, and how to call it",
    Calls: "The record of a call",
    Events: "What a machine reports on its own",
    Guide: "The guide's REST interface; its base address is `/v1/devices/{device}`, or the root",
    Account: "Signing in and out",
    Tokens: "Credentials for scripts and apps",
    Pairing: "Adding a machine, signing in a command line",
    Links: "WebSockets",
    Relay: "The relay itself",
  },
  security: {
    bearer: {
      type: "http",
      scheme: "bearer",
      bearerFormat: "JWT",
      description: "An API token, or the token of `matrx login`",
    },
    cookie: {
      type: "apiKey",
      in: "cookie",
      name: "matrx_session",
      description:
        "For signed-in browsers. All methods except GET and HEAD then need the relay's own `Origin`.",
    },
  },
  path: PATH,
  schemas: { ...api, ...bodies, policySchema, policySetSchema, toolDescriptionSchema },
  operations: [
    ...deviceOperations,
    ...toolOperations,
    ...eventOperations,
    ...accountOperations,
    ...pairingOperations,
    ...pageOperations,
  ],
  implied,
};

/** Any request may come under a wrong Host, or meet a fault of ours; the rest follows from what it shows and sends. */
function implied({ access, path, body }: Operation): ErrorCode[] {
  const codes: ErrorCode[] = ["PERMISSION_DENIED", "INTERNAL"];
  if (access === "caller" || access === "person") codes.push("UNAUTHENTICATED", "UNAVAILABLE");
  if (path.includes("{device}")) codes.push("UNKNOWN_DEVICE");
  if (body) codes.push("INVALID_MESSAGE", "INVALID_PARAMETERS", "PAYLOAD_TOO_LARGE");
  return codes;
}

export function relayDocument(): OpenApiDocument {
  return openApiDocument(RELAY);
}
