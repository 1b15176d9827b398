/** Notifications by web push: which browsers of an account get them, of what, and when not. Times are ISO 8601 in UTC. */
import * as z from "zod";
import { shownName } from "./plain-names.ts";

const time = z.iso.datetime();

/** What a browser may be told of: calls that wait for a decision, events that warn, and long calls that ended. */
export const PUSH_KINDS = ["approvals", "alerts", "finished"] as const;
export type PushKind = (typeof PUSH_KINDS)[number];

const kinds = z
  .array(z.enum(PUSH_KINDS))
  .max(PUSH_KINDS.length)
  .refine((given) => new Set(given).size === given.length, "names a kind twice");

const clock = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, "must be a time of day, such as 22:00");

/** While they last, nothing is sent. They may begin before midnight and end after it. */
export const quietHoursSchema = z
  .strictObject({
    from: clock,
    to: clock,
    time_zone: z
      .string()
      .max(64)
      .refine(isTimeZone, "must be the name of a time zone, such as Europe/Berlin")
      .describe("IANA name"),
    approvals: z.boolean().describe("true: approvals are sent all the same"),
  })
  .refine(({ from, to }) => from !== to, { path: ["to"], message: "must differ from `from`" });
export type QuietHours = z.infer<typeof quietHoursSchema>;

/** One browser that gets notifications. */
export const pushSubscriptionSchema = z.object({
  id: z.string(),
  name: z.string().describe("The browser"),
  own: z.boolean().describe("Of the session that asks"),
  kinds: z.array(z.enum(PUSH_KINDS)),
  created: time,
  succeeded: time.nullable().describe("When its push service last took a message"),
  problem: z.string().nullable().describe("Why it did not take the last one"),
});
export type PushSubscriptionView = z.infer<typeof pushSubscriptionSchema>;

/** `GET /v1/push` */
export const pushViewSchema = z.object({
  public_key: z.string().describe("What a browser subscribes with: `applicationServerKey`, in base64url"),
  subscriptions: z.array(pushSubscriptionSchema),
  quiet_hours: quietHoursSchema.nullable(),
});
export type PushView = z.infer<typeof pushViewSchema>;

/** `PATCH /v1/push` */
export const changedPushSchema = z.strictObject({
  quiet_hours: quietHoursSchema.nullable().describe("null: none"),
});

/** `POST /v1/push/subscriptions`: what a browser's `PushSubscription` says of itself, and its name. */
export const newPushSubscriptionSchema = z.strictObject({
  endpoint: z.string().max(1024).describe("An https address of a public host"),
  keys: z.strictObject({
    p256dh: z.string().regex(/^B[A-Za-z0-9_-]{86}$/, "must be a P-256 public key of 65 bytes in base64url"),
    auth: z.string().regex(/^[A-Za-z0-9_-]{22}$/, "must be 16 bytes in base64url"),
  }),
  name: shownName.optional().describe("If absent, what its User-Agent says"),
  kinds: kinds.optional().describe("If absent, all"),
});
export type NewPushSubscription = z.infer<typeof newPushSubscriptionSchema>;

/** `PATCH /v1/push/subscriptions/{subscription}` */
export const changedPushSubscriptionSchema = z.strictObject({ kinds });

/** `POST /v1/push/test` */
export const newPushTestSchema = z.strictObject({
  subscription: z.string().max(64).optional().describe("Only to this browser"),
});

/** Answer to it: what each push service said. */
export const pushTestSchema = z.object({
  results: z.array(
    z.object({
      subscription: z.string(),
      sent: z.boolean(),
      problem: z.string().nullable(),
    }),
  ),
});
export type PushTest = z.infer<typeof pushTestSchema>;

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
