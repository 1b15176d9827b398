/** Pairing a device, and signing a command line in (RFC 8628 pattern). */
import {
  newLoginSchema,
  newPairingSchema,
  pairingViewSchema,
  polledPairingSchema,
  pollPairingSchema,
  startedPairingSchema,
} from "@matrx/shared/api.ts";
import { confirmedPairingSchema } from "@matrx/shared/openapi/bodies.ts";
import type { Answer, Operation } from "@matrx/shared/openapi/operation.ts";
import { CODE, DEVICE } from "./parts.ts";

const started: Answer = {
  description: "Show the code; poll with the secret",
  schema: startedPairingSchema,
  example: {
    code: CODE,
    secret: "eyJhbGciOiJFZERTQSJ9.e30.c2ln",
    verification_uri: `https://relay.example/#pair=${CODE}`,
    expires_in: 600,
    interval: 2,
  },
};

export const pairingOperations: readonly Operation[] = [
  {
    method: "POST",
    path: "/v1/pairings",
    id: "startPairing",
    tag: "Pairing",
    summary: "Start pairing a machine",
    access: "anyone",
    body: {
      schema: newPairingSchema,
      example: {
        name: "laptop",
        hostname: "ann-laptop",
        os: "Linux",
        os_version: "Debian GNU/Linux 13",
        public_key: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
      },
    },
    answers: { 201: started },
    errors: ["RATE_LIMITED", "UNAVAILABLE"],
  },
  {
    method: "POST",
    path: "/v1/logins",
    id: "startLogin",
    tag: "Pairing",
    summary: "Start signing in a command line",
    access: "anyone",
    body: { schema: newLoginSchema, example: { name: "matrx on ann-laptop" } },
    answers: { 201: started },
    errors: ["RATE_LIMITED", "UNAVAILABLE"],
  },
  {
    method: "GET",
    path: "/v1/pairings/{code}",
    id: "getPairing",
    tag: "Pairing",
    summary: "What is this code for?",
    description: "After five wrong codes in ten minutes, all are refused for a while.",
    access: "person",
    answers: {
      200: {
        description: "Who is asking; compare it with what the machine shows",
        schema: pairingViewSchema,
        example: {
          kind: "device",
          name: "laptop",
          hostname: "ann-laptop",
          os: "Linux",
          os_version: "Debian GNU/Linux 13",
          fingerprint: "5b2f 0c9e 7d41 a8e3 1f60 92bc 44d7 0e5a",
          expires: "2026-02-12T10:40:00.000Z",
        },
      },
    },
    errors: ["NOT_FOUND", "RATE_LIMITED"],
  },
  {
    method: "POST",
    path: "/v1/pairings/{code}/confirm",
    id: "confirmPairing",
    tag: "Pairing",
    summary: "Approve",
    access: "person",
    answers: {
      200: {
        description: "The machine is now a device of the account, or the command line is signed in",
        schema: confirmedPairingSchema,
        example: { name: "laptop", device: DEVICE },
      },
    },
    errors: ["NOT_FOUND", "RATE_LIMITED", "CONFLICT"],
  },
  {
    method: "POST",
    path: "/v1/pairings/{code}/poll",
    id: "pollPairing",
    tag: "Pairing",
    summary: "Has it been approved?",
    description: "For the program that started it; ask every `interval` seconds.",
    access: "secret",
    body: { schema: pollPairingSchema, example: { secret: "eyJhbGciOiJFZERTQSJ9.e30.c2ln" } },
    answers: {
      200: {
        description: "Pending, or the result; a token is shown only once",
        schema: polledPairingSchema,
        example: { status: "paired", device_id: DEVICE, name: "laptop", account: "owner" },
      },
    },
    errors: ["NOT_FOUND", "UNAUTHENTICATED", "UNAVAILABLE"],
  },
];
