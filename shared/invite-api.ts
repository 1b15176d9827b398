/** REST bodies of the people on a relay: invites of its owner, and the accounts that came by them. */
import * as z from "zod";
import { shownName } from "./plain-names.ts";
import { sessionKeySchema } from "./session-api.ts";

const time = z.iso.datetime();

/** `POST /v1/invites`: for whom, as the owner will see it in the list. */
export const newInviteSchema = z.strictObject({ name: shownName });

export const inviteViewSchema = z.object({
  id: z.string(),
  name: z.string().describe("For whom, as the owner wrote it"),
  account: z.string().describe("The account that it makes"),
  created: time,
  expires: time,
  accepted: time.nullable(),
  closed: time.nullable().describe("When the owner closed the account"),
});
export type InviteView = z.infer<typeof inviteViewSchema>;

export const inviteListSchema = z.object({ invites: z.array(inviteViewSchema) });

/** The link is shown only this once. */
export const createdInviteSchema = z.object({
  ...inviteViewSchema.shape,
  link: z.url().describe("Whoever opens it first gets an account of their own"),
  qr_svg: z.string().describe("The link as a QR code: an SVG document"),
});

/** `POST /v1/invites/accept`: the link's code, what the new account is called, and the key of the first session. */
export const acceptedInviteSchema = z.strictObject({
  code: z.string().max(4096),
  name: shownName.describe("How others see the new account"),
  key: sessionKeySchema,
});

/** `PATCH /v1/account` */
export const changedAccountSchema = z.strictObject({
  display_name: shownName.describe("How others see the account"),
});
