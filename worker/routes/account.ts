/** Signing in and out, and who one is. */
import {
  type accountViewSchema,
  type claimedSchema,
  claimSchema,
  newTicketSchema,
  type signInLinkSchema,
  type ticketSchema,
} from "@matrx/shared/api.ts";
import { isPersonSession } from "@matrx/shared/grant.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { AUDIENCE, LIFETIME } from "@matrx/shared/tokens.ts";
import { Hono } from "hono";
import type * as z from "zod";
import { linkOrigin } from "../auth/address.ts";
import { authenticate } from "../auth/caller.ts";
import { makeClaimCode, signInLink, verifyClaim } from "../auth/claim.ts";
import { clearCookie, setCookie } from "../auth/cookie.ts";
import { signToken } from "../auth/keys.ts";
import type { Env } from "../env.ts";
import { ownDevice } from "../known-devices.ts";
import { unwrap } from "../outcome.ts";
import { readBody, readOpenBody } from "./body.ts";

/** A short name for a browser, so that its owner knows it again in a list. */
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

/** "Chrome on Linux"; the start of what it says of itself when it is none that we know. */
function browserName(userAgent: string | undefined): string {
  if (!userAgent) return "A browser";
  const browser = BROWSERS.find(([sign]) => sign.test(userAgent))?.[1];
  const system = SYSTEMS.find(([sign]) => sign.test(userAgent))?.[1];
  if (!browser) return userAgent.slice(0, 40);
  return system ? `${browser} on ${system}` : browser;
}

/** White around a QR code, in modules (ISO/IEC 18004). */
const QUIET_ZONE = 4;

export const account = new Hono<{ Bindings: Env }>();

/** A sign-in link's code becomes a person session, once. */
account.post("/claim", async (c) => {
  const { code } = await readOpenBody(c.req.raw, claimSchema);
  const claim = await verifyClaim(c.env, code);
  const browser = browserName(c.req.header("User-Agent"));
  const grant = unwrap(await c.env.ACCOUNT.getByName(claim.account).claim(claim, browser));
  const names = { account: claim.account, subject: grant.id, id: crypto.randomUUID() };
  const token = await signToken(c.env, AUDIENCE.web, names, LIFETIME.web);
  c.header("Set-Cookie", setCookie(c.env, c.req.raw, token));
  c.header("Cache-Control", "no-store");
  return c.json({ account: claim.account } satisfies z.infer<typeof claimedSchema>);
});

/** Another device of the person who asks, such as a phone, signs in with it once. */
account.post("/sign-in-links", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  unwrap(await c.env.ACCOUNT.getByName(caller.account).requirePerson(caller.grant));
  const seconds = LIFETIME.signInLink;
  const link = signInLink(linkOrigin(c.env, c.req.raw), await makeClaimCode(c.env, caller.account, seconds));
  const { renderSVG } = await import("uqr");
  const qr_svg = renderSVG(link, { pixelSize: 1, border: QUIET_ZONE });
  c.header("Cache-Control", "no-store");
  return c.json({ link, expires_in: seconds, qr_svg } satisfies z.infer<typeof signInLinkSchema>, 201);
});

account.post("/sign-out", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  unwrap(await c.env.ACCOUNT.getByName(caller.account).signOut(caller.grant));
  c.header("Set-Cookie", clearCookie(c.env, c.req.raw));
  return c.body(null, 204);
});

account.get("/account", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  const grant = unwrap(await c.env.ACCOUNT.getByName(caller.account).describe(caller.grant));
  const view: z.infer<typeof accountViewSchema> = {
    account: caller.account,
    grant: grant.id,
    name: grant.name,
    kind: grant.kind,
    person: isPersonSession(grant),
    expires: new Date(Math.min(grant.expires, caller.expires)).toISOString(),
  };
  return c.json(view);
});

/** A one-use ticket for a WebSocket client that can send neither header nor subprotocol. */
account.post("/tickets", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  const { device } = await readBody(c.req.raw, newTicketSchema);
  unwrap(await (await ownDevice(c.env, caller.account, device)).viewFor(caller));
  const subject = `${caller.grant} ${device} ${caller.expires}`;
  const names = { account: caller.account, subject, id: crypto.randomUUID() };
  const seconds = TIMES.ticket / 1000;
  c.header("Cache-Control", "no-store");
  const ticket = await signToken(c.env, AUDIENCE.ticket, names, seconds);
  return c.json({ ticket, expires_in: seconds } satisfies z.infer<typeof ticketSchema>, 201);
});
