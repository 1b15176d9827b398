/** Notifications by web push: which browsers get them, of what, and when not; person sessions only. */
import { readBody } from "@matrx/shared/caller/body.ts";
import type { Parameter } from "@matrx/shared/openapi/operation.ts";
import {
  changedPushSchema,
  changedPushSubscriptionSchema,
  newPushSubscriptionSchema,
  newPushTestSchema,
  type PushSubscriptionView,
  pushSubscriptionSchema,
  pushTestSchema,
  pushViewSchema,
} from "@matrx/shared/push-api.ts";
import type { Context } from "hono";
import * as z from "zod";
import { linkOrigin } from "../auth/address.ts";
import { CALLER_BODY } from "../body.ts";
import { unwrap } from "../outcome.ts";
import type { RelayEnv, RelayRoute } from "../route.ts";
import { browserName } from "./browser-name.ts";

const SUBSCRIPTION = "push_4k7m2x9qpatr6w1z";

/** In paths. */
export const PUSH_SUBSCRIPTION_PARAMETER: Parameter = {
  schema: z.string(),
  description: "A subscription's id, as `GET /v1/push` lists it",
  example: SUBSCRIPTION,
};

const VIEW: PushSubscriptionView = {
  id: SUBSCRIPTION,
  name: "Chrome on Android",
  own: true,
  kinds: ["approvals", "alerts", "finished"],
  created: "2026-01-01T09:00:00.000Z",
  succeeded: "2026-01-02T09:00:00.000Z",
  problem: null,
};

const QUIET_HOURS = { from: "22:00", to: "07:00", time_zone: "Europe/Berlin", approvals: true };
const KEY = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";

const OVERVIEW = {
  description: "What is set",
  schema: pushViewSchema,
  example: { public_key: KEY, subscriptions: [VIEW], quiet_hours: QUIET_HOURS },
};

/** Push services want an address of whoever sends, and take none of this machine. */
const NO_ADDRESS = "mailto:relay@matrx.invalid";

export const pushRoutes: readonly RelayRoute[] = [
  {
    method: "GET",
    path: "/v1/push",
    id: "getPush",
    tag: "Notifications",
    summary: "Which browsers get notifications, and when not",
    description: "A subscription ends with the session that made it.",
    access: "person",
    answers: { 200: OVERVIEW },
    answer: async (c) => {
      const { account, person } = accountOf(c);
      return c.json(unwrap(await account.readPush(person)));
    },
  },
  {
    method: "PATCH",
    path: "/v1/push",
    id: "changePush",
    tag: "Notifications",
    summary: "Set the account's quiet hours",
    description: "While they last, nothing is sent, nor later; approvals may be excepted.",
    access: "person",
    body: { schema: changedPushSchema, example: { quiet_hours: QUIET_HOURS } },
    answers: { 200: OVERVIEW },
    answer: async (c) => {
      const { quiet_hours: hours } = await readBody(c.req.raw, CALLER_BODY, changedPushSchema);
      const { account, person } = accountOf(c);
      return c.json(unwrap(await account.setQuietHours(person, hours)));
    },
  },
  {
    method: "POST",
    path: "/v1/push/subscriptions",
    id: "createPushSubscription",
    tag: "Notifications",
    summary: "Get notifications in this browser",
    description:
      "`endpoint` and `keys` are those of a `PushSubscription` made with the account's public key. Replaces what the session had before. Messages are sealed for the browser (RFC 8291) and name the machine, the tool and what happened, nothing else of a call.",
    access: "person",
    body: {
      schema: newPushSubscriptionSchema,
      example: {
        endpoint: "https://push.example/send/1",
        keys: { p256dh: KEY, auth: "BTBZMqHH6r4Tts7J_aSIgg" },
        kinds: ["approvals", "alerts"],
      },
    },
    answers: { 201: { description: "The subscription", schema: pushSubscriptionSchema, example: VIEW } },
    errors: ["RATE_LIMITED"],
    answer: async (c) => {
      const { endpoint, keys, name, kinds } = await readBody(
        c.req.raw,
        CALLER_BODY,
        newPushSubscriptionSchema,
      );
      const { account, person } = accountOf(c);
      const made = { endpoint, ...keys, kinds, contact: contactOf(c) };
      const named = { ...made, name: name ?? browserName(c.req.header("User-Agent")) };
      return c.json(unwrap(await account.subscribeToPush(person, named)), 201);
    },
  },
  {
    method: "PATCH",
    path: "/v1/push/subscriptions/{subscription}",
    id: "changePushSubscription",
    tag: "Notifications",
    summary: "Choose what a browser is told of",
    access: "person",
    body: { schema: changedPushSubscriptionSchema, example: { kinds: ["approvals"] } },
    answers: { 200: { description: "The subscription", schema: pushSubscriptionSchema, example: VIEW } },
    errors: ["NOT_FOUND"],
    answer: async (c) => {
      const { kinds } = await readBody(c.req.raw, CALLER_BODY, changedPushSubscriptionSchema);
      const { account, person } = accountOf(c);
      return c.json(unwrap(await account.changePushSubscription(person, idOf(c), kinds)));
    },
  },
  {
    method: "DELETE",
    path: "/v1/push/subscriptions/{subscription}",
    id: "removePushSubscription",
    tag: "Notifications",
    summary: "End a browser's notifications",
    access: "person",
    answers: { 204: { description: "It gets none from now on" } },
    errors: ["NOT_FOUND"],
    answer: async (c) => {
      const { account, person } = accountOf(c);
      unwrap(await account.unsubscribeFromPush(person, idOf(c)));
      return c.body(null, 204);
    },
  },
  {
    method: "POST",
    path: "/v1/push/test",
    id: "testPush",
    tag: "Notifications",
    summary: "Send a test notification",
    description:
      "To all browsers of the account, or to one, also in quiet hours. Answers when their push services have.",
    access: "person",
    body: { schema: newPushTestSchema, example: { subscription: SUBSCRIPTION }, optional: true },
    answers: {
      200: {
        description: "What each push service said",
        schema: pushTestSchema,
        example: { results: [{ subscription: SUBSCRIPTION, sent: true, problem: null }] },
      },
    },
    errors: ["NOT_FOUND", "RATE_LIMITED"],
    answer: async (c) => {
      const { subscription } = await readBody(c.req.raw, CALLER_BODY, newPushTestSchema);
      const { account, person } = accountOf(c);
      return c.json(unwrap(await account.testPush(person, subscription)));
    },
  },
];

function accountOf(c: Context<RelayEnv>) {
  const { account, grant: person } = c.var.caller;
  return { account: c.env.ACCOUNT.getByName(account), person };
}

function idOf(c: Context<RelayEnv>): string {
  return c.req.param("subscription") ?? "";
}

/** Whoever runs the relay, as push services are told (RFC 8292, section 2.1). */
function contactOf(c: Context<RelayEnv>): string {
  const origin = linkOrigin(c.env, c.req.raw);
  return origin.startsWith("https:") ? origin : NO_ADDRESS;
}
