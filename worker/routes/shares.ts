/** Devices that one account shares with another; person sessions only. */
import { readBody } from "@matrx/shared/caller/body.ts";
import { DEVICE } from "@matrx/shared/caller/parts.ts";
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";
import {
  acceptedShareSchema,
  createdShareSchema,
  type GivenShare,
  newShareSchema,
  type ReceivedShare,
  receivedShareSchema,
  shareListSchema,
} from "@matrx/shared/share-api.ts";
import { AUDIENCE, LIFETIME } from "@matrx/shared/tokens.ts";
import type { Context } from "hono";
import { type AcceptedShare, noSuchShareError } from "../account/received-shares.ts";
import { linkOrigin } from "../auth/address.ts";
import type { TokenClaims } from "../auth/keys.ts";
import { makeLinkCode, verifyLinkCode } from "../auth/link-code.ts";
import { CALLER_BODY } from "../body.ts";
import type { Env } from "../env.ts";
import { logWarning } from "../log.ts";
import { type Outcome, unwrap } from "../outcome.ts";
import type { RelayEnv, RelayRoute } from "../route.ts";
import { qrCode } from "./qr-code.ts";
import { TOKEN_VIEW } from "./tokens.ts";

const SUMMARY = "may read in /srv/photos on laptop; never asks; expires 2026-04-01";

const GIVEN: GivenShare = {
  ...TOKEN_VIEW,
  ...{ name: "photos", kind: "share", credential: "guest", access: "read", summary: SUMMARY },
  ...{ paths: ["/srv/photos"], effects: ["read"], ask: null, shared_with: "Ben" },
};

const RECEIVED: ReceivedShare = {
  ...{ id: GIVEN.id, name: "photos", shared_by: "Ann", summary: SUMMARY },
  devices: [{ id: DEVICE, name: "laptop" }],
  ...{ accepted: "2026-01-02T09:00:00.000Z", expires: "2026-04-01T09:00:00.000Z" },
};

export const sharesRoutes: readonly RelayRoute[] = [
  {
    method: "POST",
    path: "/v1/shares",
    id: "createShare",
    tag: "People",
    summary: "Share devices with another account",
    description:
      "Whoever opens the link first, within 7 days and signed in to another account, uses the devices as a guest, within these limits. `PATCH` and `DELETE /v1/tokens/{grant}` change and end it.",
    access: "person",
    body: {
      schema: newShareSchema,
      example: { name: "photos", devices: [DEVICE], paths: ["/srv/photos"], effects: ["read"], days: 90 },
    },
    answers: {
      201: {
        description: "The share; its link is shown only once",
        schema: createdShareSchema,
        example: {
          ...GIVEN,
          shared_with: null,
          link: "https://relay.example/#share=eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
          link_expires: "2026-01-08T09:00:00.000Z",
          qr_svg: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 65 65"></svg>',
        },
      },
    },
    errors: ["UNKNOWN_DEVICE"],
    answer: async (c) => {
      const { caller } = c.var;
      const wish = await readBody(c.req.raw, CALLER_BODY, newShareSchema);
      const share = unwrap(await accountOf(c).createShare(caller.grant, wish));
      const names = { account: caller.account, id: share.id };
      const code = await makeLinkCode(c.env, AUDIENCE.share, names, LIFETIME.invite);
      const link = `${linkOrigin(c.env, c.req.raw)}/#share=${code}`;
      const link_expires = new Date(Date.now() + LIFETIME.invite * 1000).toISOString();
      c.header("Cache-Control", "no-store");
      return c.json({ ...share, link, link_expires, qr_svg: await qrCode(link) }, 201);
    },
  },
  {
    method: "GET",
    path: "/v1/shares",
    id: "listShares",
    tag: "People",
    summary: "What I share, and what is shared with me",
    access: "person",
    answers: {
      200: {
        description: "Newest first",
        schema: shareListSchema,
        example: { given: [GIVEN], received: [RECEIVED] },
      },
    },
    answer: async (c) => {
      const given = unwrap(await accountOf(c).listShares(c.var.caller.grant));
      return c.json({ given, received: await receivedBy(c) });
    },
  },
  {
    method: "POST",
    path: "/v1/shares/accept",
    id: "acceptShare",
    tag: "People",
    summary: "Accept what somebody shares",
    description: "By the code of a share's link. From then on its devices are in `GET /v1/devices`.",
    access: "person",
    body: { schema: acceptedShareSchema, example: { code: "eyJhbGciOiJIUzI1NiJ9.e30.c2ln" } },
    answers: { 200: { description: "The share", schema: receivedShareSchema, example: RECEIVED } },
    errors: ["NOT_FOUND", "CONFLICT", "UNAVAILABLE"],
    answer: async (c) => {
      const { caller } = c.var;
      const { code } = await readBody(c.req.raw, CALLER_BODY, acceptedShareSchema);
      const claims = await readCode(c.env, code);
      const [grant, giver] = [claims.id as GrantId, claims.account as AccountId];
      const { displayName } = unwrap(await accountOf(c).whoAmI(caller.grant));
      const guest = { account: caller.account, name: displayName };
      const { name } = unwrap(await c.env.ACCOUNT.getByName(giver).acceptShare(grant, guest));
      unwrap(await accountOf(c).receiveShare(caller.grant, { grant, account: giver, name }));
      const received = (await receivedBy(c)).find(({ id }) => id === grant);
      if (!received) throw noSuchShareError();
      return c.json(received);
    },
  },
  {
    method: "DELETE",
    path: "/v1/shares/{grant}",
    id: "leaveShare",
    tag: "People",
    summary: "Give back what somebody shares with me",
    access: "person",
    answers: { 204: { description: "Its devices are gone" } },
    errors: ["NOT_FOUND"],
    answer: async (c) => {
      const { caller } = c.var;
      const grant = c.req.param("grant") as GrantId;
      const account = unwrap(await accountOf(c).giverOf(caller.grant, grant));
      await leaveShare(c.env, caller.account, { grant, account });
      return c.body(null, 204);
    },
  },
];

/** Gives back what an account shares with a guest. One that its giver ended is left all the same. */
export async function leaveShare(
  env: Env,
  guest: AccountId,
  { grant, account }: Pick<AcceptedShare, "grant" | "account">,
): Promise<void> {
  const left = (await env.ACCOUNT.getByName(account).leaveShare(grant, guest)) as Outcome<void>;
  if (!left.ok && left.error.code !== "NOT_FOUND") unwrap(left);
  await env.ACCOUNT.getByName(guest).forgetShares([grant]);
}

/** Throws MatrxError `NOT_FOUND`, since the person is signed in all the same. */
async function readCode(env: Env, code: string): Promise<TokenClaims> {
  const hint = "Ask whoever sent the link for a new one";
  try {
    return await verifyLinkCode(env, AUDIENCE.share, code, hint);
  } catch (error) {
    if (!(error instanceof MatrxError) || error.code !== "UNAUTHENTICATED") throw error;
    throw relayError("NOT_FOUND", error.message, { hint });
  }
}

function accountOf(c: Context<RelayEnv>) {
  return c.env.ACCOUNT.getByName(c.var.caller.account);
}

/** Asks each giver what is left of its shares, and forgets those that are over. */
async function receivedBy(c: Context<RelayEnv>): Promise<ReceivedShare[]> {
  const { caller } = c.var;
  const accepted = unwrap(await accountOf(c).receivedShares(caller.grant));
  const givers = [...new Set(accepted.map(({ account }) => account))];
  const answers = await Promise.all(givers.map((giver) => givenBy(c.env, giver, caller.account)));
  const given = new Map(answers.flatMap((shares) => shares ?? []).map((share) => [share.id, share]));
  const silent = new Set(givers.filter((_, index) => !answers[index]));
  const over = accepted.filter(({ grant, account }) => !given.has(grant) && !silent.has(account));
  if (over.length > 0) await accountOf(c).forgetShares(over.map(({ grant }) => grant));
  return accepted.flatMap(({ grant, accepted }) => {
    const share = given.get(grant);
    return share ? [{ ...share, accepted: new Date(accepted).toISOString() }] : [];
  });
}

/** Undefined if the account does not answer. */
async function givenBy(env: Env, giver: AccountId, guest: AccountId) {
  try {
    return (await env.ACCOUNT.getByName(giver).sharedWith(guest)).shares;
  } catch (error) {
    logWarning(`account ${giver} does not tell what it shares`, error);
    return undefined;
  }
}
