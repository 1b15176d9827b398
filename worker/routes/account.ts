/** Who is signed in, and tickets for clients that can send no header. */
import { accountViewSchema, newTicketSchema, ticketSchema } from "@matrx/shared/api.ts";
import { readBody } from "@matrx/shared/caller/body.ts";
import { DEVICE } from "@matrx/shared/caller/parts.ts";
import { credentialOf, isPersonSession, toldKindOf } from "@matrx/shared/grant.ts";
import { OWNER_ACCOUNT } from "@matrx/shared/ids.ts";
import { changedAccountSchema } from "@matrx/shared/invite-api.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { AUDIENCE } from "@matrx/shared/tokens.ts";
import type * as z from "zod";
import { signToken } from "../auth/keys.ts";
import { CALLER_BODY } from "../body.ts";
import { unwrap } from "../outcome.ts";
import { reachDevice } from "../reach.ts";
import type { RelayRoute } from "../route.ts";

export const accountRoutes: readonly RelayRoute[] = [
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
          display_name: "Ann",
          relay_owner: true,
          expires: "2026-04-01T09:00:00.000Z",
        },
      },
    },
    answer: async (c) => {
      const { caller } = c.var;
      const account = c.env.ACCOUNT.getByName(caller.account);
      const { grant, displayName } = unwrap(await account.whoAmI(caller.grant));
      const view: z.infer<typeof accountViewSchema> = {
        account: caller.account,
        grant: grant.id,
        name: grant.name,
        kind: toldKindOf(grant),
        credential: credentialOf(grant),
        person: isPersonSession(grant),
        display_name: displayName,
        relay_owner: caller.account === OWNER_ACCOUNT,
        expires: new Date(Math.min(grant.expires, caller.expires)).toISOString(),
      };
      return c.json(view);
    },
  },
  {
    method: "PATCH",
    path: "/v1/account",
    id: "changeAccount",
    tag: "Account",
    summary: "Name the account",
    description: "People with whom you share devices see this name.",
    access: "person",
    body: { schema: changedAccountSchema, example: { display_name: "Ann" } },
    answers: { 204: { description: "Named" } },
    answer: async (c) => {
      const { caller } = c.var;
      const { display_name } = await readBody(c.req.raw, CALLER_BODY, changedAccountSchema);
      unwrap(await c.env.ACCOUNT.getByName(caller.account).rename(caller.grant, display_name));
      return c.body(null, 204);
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
      const reached = await reachDevice(c.env, caller, device);
      unwrap(await reached.device.viewFor(reached.caller));
      const subject = `${caller.grant} ${device} ${caller.expires}`;
      const names = { account: caller.account, subject, id: crypto.randomUUID() };
      const seconds = TIMES.ticket / 1000;
      c.header("Cache-Control", "no-store");
      const ticket = await signToken(c.env, AUDIENCE.ticket, names, seconds);
      return c.json({ ticket, expires_in: seconds } satisfies z.infer<typeof ticketSchema>, 201);
    },
  },
];
