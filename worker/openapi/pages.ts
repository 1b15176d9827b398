/** The relay itself: health, keys, this description and its page. */
import { healthSchema, openApiSchema, publicKeysSchema } from "@matrx/shared/openapi/bodies.ts";
import type { Operation } from "@matrx/shared/openapi/operation.ts";

export const pageOperations: readonly Operation[] = [
  {
    method: "GET",
    path: "/v1/health",
    id: "getHealth",
    tag: "Relay",
    summary: "Is the relay working?",
    access: "anyone",
    answers: { 200: { description: "It is", schema: healthSchema, example: { status: "ok" } } },
    errors: ["UNAVAILABLE"],
  },
  {
    method: "GET",
    path: "/.well-known/jwks.json",
    id: "getPublicKeys",
    tag: "Relay",
    summary: "Public keys for checking the relay's tokens",
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
    summary: "This description, for people",
    access: "anyone",
    answers: { 200: { description: "A page", other: { "text/html": "The page" } } },
    errors: ["NOT_FOUND"],
  },
];
