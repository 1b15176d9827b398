/** Signing in and out, and who is signed in. */
import {
  accountViewSchema,
  claimedSchema,
  claimSchema,
  newTicketSchema,
  signInLinkSchema,
  ticketSchema,
} from "@matrx/shared/api.ts";
import { readBody } from "@matrx/shared/caller/body.ts";
import { DEVICE } from "@matrx/shared/caller/parts.ts";
import { credentialOf, isPersonSession } from "@matrx/shared/grant.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { AUDIENCE, LIFETIME } from "@matrx/shared/tokens.ts";
import * as z from "zod";
import { linkOrigin } from "../auth/address.ts";
import { makeClaimCode, signInLink, verifyClaim } from "../auth/claim.ts";
import { clearCookie, setCookie } from "../auth/cookie.ts";
import { signToken } from "../auth/keys.ts";
import { ownDevice } from "../known-devices.ts";
import { unwrap } from "../outcome.ts";
import { CALLER_BODY, OPEN_BODY } from "./body.ts";
import type { RelayRoute } from "./route.ts";

/** Short browser names, so that owners recognise theirs in a list. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/Edg/, "Edge"],
  [/OPR/, "Opera"],
  [/Firefox|FxiOS/, "Firefox"],
  [/Chrome|CriOS/, "Chrome"],
  [/Safari/, "Safari"],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, "iOS"],
  [/Android/, "Android"],
  [/Mac OS X/, "macOS"],
  [/Windows/, "Windows"],
  [/CrOS/, "ChromeOS"],
  [/Linux/, "Linux"],
];

/** For example "Chrome on Linux"; for an unknown browser, the start of its User-Agent. */
function browserName(userAgent: string | undefined): string {
  if (!userAgent) return "A browser";
  const browser = BROWSERS.find(([sign]) => sign.test(userAgent))?.[1];
  const system = SYSTEMS.find(([sign]) => sign.test(userAgent))?.[1];
  if (!browser) return userAgent.slice(0, 40);
  return system ? `${browser} on ${system}` : browser;
}

/** The margin around a QR code, in modules (ISO/IEC 18004). */
const QUIET_ZONE = 4;

const setCookieHeader = {
  "Set-Cookie": { schema: z.string(), description: "The cookie `matrx_session`", required: true },
};

export const accountRoutes: readonly RelayRoute[] = [
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
        headers: setCookieHeader,
      },
    },
    errors: ["UNAUTHENTICATED", "UNAVAILABLE", "RATE_LIMITED"],
    answer: async (c) => {
      const { code } = await readBody(c.req.raw, OPEN_BODY, claimSchema);
      const claim = await verifyClaim(c.env, code);
      const browser = browserName(c.req.header("User-Agent"));
      const grant = unwrap(await c.env.ACCOUNT.getByName(claim.account).claim(claim, browser));
      const names = { account: claim.account, subject: grant.id, id: crypto.randomUUID() };
      const token = await signToken(c.env, AUDIENCE.web, names, LIFETIME.web);
      c.header("Set-Cookie", setCookie(c.env, c.req.raw, token));
      c.header("Cache-Control", "no-store");
      return c.json({ account: claim.account } satisfies z.infer<typeof claimedSchema>);
    },
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
    answer: async (c) => {
      const { caller } = c.var;
      unwrap(await c.env.ACCOUNT.getByName(caller.account).countLink(caller.grant));
      const seconds = LIFETIME.signInLink;
      const link = signInLink(
        linkOrigin(c.env, c.req.raw),
        await makeClaimCode(c.env, caller.account, seconds),
      );
      const { renderSVG } = await import("uqr");
      const qr_svg = renderSVG(link, { pixelSize: 1, border: QUIET_ZONE });
      c.header("Cache-Control", "no-store");
      return c.json({ link, expires_in: seconds, qr_svg } satisfies z.infer<typeof signInLinkSchema>, 201);
    },
  },
  {
    method: "POST",
    path: "/v1/sign-out",
    id: "signOut",
    tag: "Account",
    summary: "Sign out",
    description: "Ends the caller's own grant: closes its connections and stops its calls.",
    access: "caller",
    answers: { 204: { description: "Signed out", headers: setCookieHeader } },
    answer: async (c) => {
      const { caller } = c.var;
      unwrap(await c.env.ACCOUNT.getByName(caller.account).signOut(caller.grant));
      c.header("Set-Cookie", clearCookie(c.env, c.req.raw));
      return c.body(null, 204);
    },
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
          grant: "grant_4k7m2x9qpatr6w1z",
          name: "Firefox on Linux",
          kind: "web",
          credential: "person",
          person: true,
          expires: "2026-04-01T09:00:00.000Z",
        },
      },
    },
    answer: async (c) => {
      const { caller } = c.var;
      const grant = unwrap(await c.env.ACCOUNT.getByName(caller.account).describe(caller.grant));
      const view: z.infer<typeof accountViewSchema> = {
        account: caller.account,
        grant: grant.id,
        name: grant.name,
        kind: grant.kind,
        credential: credentialOf(grant),
        person: isPersonSession(grant),
        expires: new Date(Math.min(grant.expires, caller.expires)).toISOString(),
      };
      return c.json(view);
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
    answer: async (c) => {
      const { caller } = c.var;
      const { device } = await readBody(c.req.raw, CALLER_BODY, newTicketSchema);
      unwrap(await (await ownDevice(c.env, caller.account, device)).viewFor(caller));
      const subject = `${caller.grant} ${device} ${caller.expires}`;
      const names = { account: caller.account, subject, id: crypto.randomUUID() };
      const seconds = TIMES.ticket / 1000;
      c.header("Cache-Control", "no-store");
      const ticket = await signToken(c.env, AUDIENCE.ticket, names, seconds);
      return c.json({ ticket, expires_in: seconds } satisfies z.infer<typeof ticketSchema>, 201);
    },
  },
];
