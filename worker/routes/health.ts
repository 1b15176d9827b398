/** Whether the relay can work, and the public keys of its tokens. */
import { healthSchema, publicKeysSchema } from "@matrx/shared/openapi/bodies.ts";
import { publicKeys } from "../auth/keys.ts";
import type { RelayRoute } from "../route.ts";

export const healthRoutes: readonly RelayRoute[] = [
  {
    method: "GET",
    path: "/v1/health",
    id: "getHealth",
    tag: "Relay",
    summary: "Is the relay working?",
    access: "anyone",
    answers: { 200: { description: "It is", schema: healthSchema, example: { status: "ok" } } },
    errors: ["UNAVAILABLE"],
    // 503 without secrets: nobody can sign in to such a relay or claim it.
    answer: async (c) => {
      await publicKeys(c.env);
      return c.json({ status: "ok" });
    },
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
    answer: async (c) => {
      c.header("Cache-Control", "public, max-age=300");
      return c.json(await publicKeys(c.env));
    },
  },
];
