/** Other people on this relay: the owner invites them, and may close their accounts. */
import { readBody } from "@matrx/shared/caller/body.ts";
import { type AccountId, OWNER_ACCOUNT } from "@matrx/shared/ids.ts";
import {
  acceptedInviteSchema,
  createdInviteSchema,
  type InviteView,
  inviteListSchema,
  newInviteSchema,
} from "@matrx/shared/invite-api.ts";
import type { Parameter } from "@matrx/shared/openapi/operation.ts";
import { AUDIENCE, LIFETIME } from "@matrx/shared/tokens.ts";
import type { Context } from "hono";
import * as z from "zod";
import { linkOrigin } from "../auth/address.ts";
import { makeLinkCode, verifyLinkCode } from "../auth/link-code.ts";
import { thumbprintOf } from "../auth/session-proof.ts";
import { CALLER_BODY, OPEN_BODY } from "../body.ts";
import { unwrap } from "../outcome.ts";
import type { RelayEnv, RelayRoute } from "../route.ts";
import { browserName } from "./browser-name.ts";
import { qrCode } from "./qr-code.ts";
import { KEY, SIGNED_IN_ANSWER, signedIn } from "./session.ts";
import { leaveShare } from "./shares.ts";

const INVITE: InviteView = {
  id: "invite_4k7m2x9qpatr6w1z",
  name: "Ben",
  account: "7h2k9m4x0q3v",
  created: "2026-01-01T09:00:00.000Z",
  expires: "2026-01-08T09:00:00.000Z",
  accepted: null,
  closed: null,
};

/** In paths. */
export const INVITE_PARAMETER: Parameter = {
  schema: z.string(),
  description: "An invite's id, as `GET /v1/invites` lists it",
  example: INVITE.id,
};
export const ACCOUNT_PARAMETER: Parameter = {
  schema: z.string(),
  description: "An account's id, as `GET /v1/invites` lists it",
  example: INVITE.account,
};

export const invitesRoutes: readonly RelayRoute[] = [
  {
    method: "POST",
    path: "/v1/invites",
    id: "createInvite",
    tag: "People",
    summary: "Invite somebody",
    description:
      "For the relay's owner only. Whoever opens the link first, within 7 days, gets an account of their own: it shares nothing with yours.",
    access: "person",
    body: { schema: newInviteSchema, example: { name: "Ben" } },
    answers: {
      201: {
        description: "The invite; its link is shown only once",
        schema: createdInviteSchema,
        example: {
          ...INVITE,
          link: "https://relay.example/#invite=eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
          qr_svg: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 65 65"></svg>',
        },
      },
    },
    answer: async (c) => {
      const { name } = await readBody(c.req.raw, CALLER_BODY, newInviteSchema);
      const invite = unwrap(await accountOf(c).createInvite(c.var.caller.grant, name));
      const code = await makeLinkCode(c.env, AUDIENCE.invite, invite, LIFETIME.invite);
      const link = `${linkOrigin(c.env, c.req.raw)}/#invite=${code}`;
      c.header("Cache-Control", "no-store");
      return c.json({ ...invite, link, qr_svg: await qrCode(link) }, 201);
    },
  },
  {
    method: "GET",
    path: "/v1/invites",
    id: "listInvites",
    tag: "People",
    summary: "Invites that wait, and accounts that came by one",
    description: "For the relay's owner only.",
    access: "person",
    answers: {
      200: { description: "Newest first", schema: inviteListSchema, example: { invites: [INVITE] } },
    },
    answer: async (c) => c.json({ invites: unwrap(await accountOf(c).listInvites(c.var.caller.grant)) }),
  },
  {
    method: "DELETE",
    path: "/v1/invites/{invite}",
    id: "withdrawInvite",
    tag: "People",
    summary: "Withdraw an invite",
    description: "For the relay's owner only, before somebody accepts it.",
    access: "person",
    answers: { 204: { description: "Its link no longer works" } },
    errors: ["NOT_FOUND", "CONFLICT"],
    answer: async (c) => {
      unwrap(await accountOf(c).withdrawInvite(c.var.caller.grant, c.req.param("invite") ?? ""));
      return c.body(null, 204);
    },
  },
  {
    method: "POST",
    path: "/v1/invites/accept",
    id: "acceptInvite",
    tag: "People",
    summary: "Accept an invite",
    description: "Makes the account, and signs this browser in to it. Works once.",
    access: "secret",
    body: {
      schema: acceptedInviteSchema,
      example: { code: "eyJhbGciOiJIUzI1NiJ9.e30.c2ln", name: "Ben", key: KEY },
    },
    answers: { 200: SIGNED_IN_ANSWER },
    errors: ["UNAUTHENTICATED", "UNAVAILABLE", "RATE_LIMITED"],
    answer: async (c) => {
      const { code, name, key } = await readBody(c.req.raw, OPEN_BODY, acceptedInviteSchema);
      const { account, id } = await verifyLinkCode(c.env, AUDIENCE.invite, code, ASK_AGAIN);
      const session = { name: browserName(c.req.header("User-Agent")), key: await thumbprintOf(key) };
      unwrap(await c.env.ACCOUNT.getByName(OWNER_ACCOUNT).acceptInvite(id, account));
      return signedIn(c, unwrap(await c.env.ACCOUNT.getByName(account).begin(name, session)));
    },
  },
  {
    method: "DELETE",
    path: "/v1/accounts/{account}",
    id: "closeAccount",
    tag: "People",
    summary: "Close an account that came by an invite",
    description:
      "For the relay's owner only. Ends all its sessions, tokens and shares, given and received, and lets nobody sign in to it again. Its devices stay paired, but nobody reaches them.",
    access: "person",
    answers: { 204: { description: "Closed" } },
    errors: ["NOT_FOUND"],
    answer: async (c) => {
      const id = c.req.param("account") as AccountId;
      unwrap(await accountOf(c).requireMember(c.var.caller.grant, id));
      const account = c.env.ACCOUNT.getByName(id);
      unwrap(await account.close());
      for (const share of await account.acceptedShares()) await leaveShare(c.env, id, share);
      await accountOf(c).noteClosed(c.var.caller.grant, id);
      return c.body(null, 204);
    },
  },
];

const ASK_AGAIN = "Ask whoever sent the link for a new one";

function accountOf(c: Context<RelayEnv>) {
  return c.env.ACCOUNT.getByName(c.var.caller.account);
}
