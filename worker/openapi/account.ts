/** Signing in and out, tokens, tickets. */
import {
  accountViewSchema,
  claimedSchema,
  claimSchema,
  createdTokenSchema,
  newTicketSchema,
  newTokenSchema,
  signInLinkSchema,
  ticketSchema,
  tokenListSchema,
} from "@matrx/shared/api.ts";
import type { Operation } from "@matrx/shared/openapi/operation.ts";
import * as z from "zod";
import { DEVICE, GRANT } from "./parts.ts";

const TOKEN_VIEW = {
  id: GRANT,
  name: "backup script",
  kind: "api",
  access: "read",
  devices: [DEVICE],
  paths: ["/home/ann/documents"],
  created: "2026-01-01T09:00:00.000Z",
  expires: "2026-04-01T09:00:00.000Z",
};

const setCookie = {
  "Set-Cookie": { schema: z.string(), description: "The cookie `matrx_session`", required: true },
};

export const accountOperations: readonly Operation[] = [
  {
    method: "POST",
    path: "/v1/claim",
    id: "claim",
    tag: "Account",
    summary: "Sign in with a link",
    description:
      "Exchanges the code of a sign-in link (made by `npm run link`) for a session cookie. Works once.",
    access: "secret",
    body: { schema: claimSchema, example: { code: "eyJhbGciOiJIUzI1NiJ9.e30.c2ln" } },
    answers: {
      200: {
        description: "Signed in",
        schema: claimedSchema,
        example: { account: "owner" },
        headers: setCookie,
      },
    },
    errors: ["UNAUTHENTICATED", "UNAVAILABLE"],
  },
  {
    method: "POST",
    path: "/v1/sign-in-links",
    id: "createSignInLink",
    tag: "Account",
    summary: "Sign in another device",
    description: "The link signs in whoever opens it first, as this account, within 5 minutes.",
    access: "person",
    answers: {
      201: {
        description: "The link, and its QR code",
        schema: signInLinkSchema,
        example: {
          link: "https://relay.example/#claim=eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
          expires_in: 300,
          qr_svg: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 65 65"></svg>',
        },
      },
    },
    errors: ["UNAVAILABLE"],
  },
  {
    method: "POST",
    path: "/v1/sign-out",
    id: "signOut",
    tag: "Account",
    summary: "Sign out",
    description: "Ends the caller's own grant: closes its connections and stops its calls.",
    access: "caller",
    answers: { 204: { description: "Signed out", headers: setCookie } },
  },
  {
    method: "GET",
    path: "/v1/account",
    id: "getAccount",
    tag: "Account",
    summary: "Who am I?",
    access: "caller",
    answers: {
      200: {
        description: "The credential's account and grant",
        schema: accountViewSchema,
        example: {
          account: "owner",
          grant: GRANT,
          name: "Firefox on Linux",
          kind: "web",
          person: true,
          expires: "2026-04-01T09:00:00.000Z",
        },
      },
    },
  },
  {
    method: "POST",
    path: "/v1/tickets",
    id: "createTicket",
    tag: "Account",
    summary: "Create a ticket for a WebSocket client",
    description:
      "For clients that can send neither a header nor a subprotocol: use it as `?ticket=` on that device's caller link, once, within 30 seconds.",
    access: "caller",
    body: { schema: newTicketSchema, example: { device: DEVICE } },
    answers: {
      201: {
        description: "The ticket",
        schema: ticketSchema,
        example: { ticket: "eyJhbGciOiJFZERTQSJ9.e30.c2ln", expires_in: 30 },
      },
    },
    errors: ["UNKNOWN_DEVICE"],
  },
  {
    method: "GET",
    path: "/v1/tokens",
    id: "listTokens",
    tag: "Tokens",
    summary: "List all grants of the account",
    access: "person",
    answers: {
      200: {
        description: "Tokens, browsers and command lines",
        schema: tokenListSchema,
        example: { tokens: [TOKEN_VIEW] },
      },
    },
  },
  {
    method: "POST",
    path: "/v1/tokens",
    id: "createToken",
    tag: "Tokens",
    summary: "Create an API token",
    description: "The token is shown only once; the relay stores only its permissions.",
    access: "person",
    body: {
      schema: newTokenSchema,
      example: {
        name: "backup script",
        access: "read",
        devices: [DEVICE],
        paths: ["/home/ann/documents"],
        days: 90,
      },
    },
    answers: {
      201: {
        description: "The token",
        schema: createdTokenSchema,
        example: { token: "eyJhbGciOiJFZERTQSJ9.e30.c2ln", ...TOKEN_VIEW },
      },
    },
    errors: ["UNKNOWN_DEVICE", "CONFLICT"],
  },
  {
    method: "DELETE",
    path: "/v1/tokens/{grant}",
    id: "revokeToken",
    tag: "Tokens",
    summary: "Revoke a token",
    description: "Closes its connections and stops its calls.",
    access: "person",
    answers: { 204: { description: "Revoked" } },
    errors: ["NOT_FOUND"],
  },
];
