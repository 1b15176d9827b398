/** The relay itself: health, keys, this description and its page. */
import { healthSchema, openApiSchema, publicKeysSchema } from "@matrx/shared/openapi/bodies.ts";
import type { Operation } from "@matrx/shared/openapi/operation.ts";

export const pageOperations: readonly Operation[] = [
  {
    method: "GET",
    path: "/v1/health",
    id: "getHealth",
    tag: "Relay",
    summary: "Can the relay work?",
    access: "anyone",
    answers: { 200: { description: "It can", schema: healthSchema, example: { status: "ok" } } },
    errors: ["UNAVAILABLE"],
  },
  {
    method: "GET",
    path: "/.well-known/jwks.json",
    id: "getPublicKeys",
    tag: "Relay",
    summary: "The keys that the relay's tokens are checked with",
    access: "anyone",
    answers: {
      200: {
        description: "JSON Web Key Set",
        schema: publicKeysSchema,
        example: {
          keys: [
            {
              kty: "OKP",
              crv: "Ed25519",
              kid: "2026-01",
              x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
              alg: "EdDSA",
              use: "sig",
            },
          ],
        },
      },
    },
    errors: ["UNAVAILABLE"],
  },
  {
    method: "GET",
    path: "/openapi.json",
    id: "getDescription",
    tag: "Relay",
    summary: "This description",
    access: "anyone",
    answers: { 200: { description: "OpenAPI 3.1", schema: openApiSchema } },
  },
  {
    method: "GET",
    path: "/docs",
    id: "getDocs",
    tag: "Relay",
    summary: "This description, to be read",
    access: "anyone",
    answers: { 200: { description: "A page", other: { "text/html": "The page" } } },
    errors: ["NOT_FOUND"],
  },
];
