/** REST bodies of shares: devices that one account gives to another, within limits. */
import * as z from "zod";
import { newTokenSchema, tokenViewSchema } from "./token-api.ts";

const time = z.iso.datetime();

const { credential: _, access: __, name, devices, tags, paths, ...limits } = newTokenSchema.shape;

/** `POST /v1/shares`: as for a token, but devices must be named, and nothing is asked unless it says so. */
export const newShareSchema = z
  .strictObject({
    ...{ name, devices, tags },
    paths: paths.unwrap().describe("Folders for file tools and commands; null: no limit to folders"),
    ...limits,
  })
  .refine(({ devices, tags }) => devices !== undefined || tags !== undefined, {
    path: ["devices"],
    message: "Name the devices to share, by id or by tag",
  });
export type NewShare = z.infer<typeof newShareSchema>;

/** A share as its giver sees it. */
export const givenShareSchema = z.object({
  ...tokenViewSchema.shape,
  shared_with: z.string().nullable().describe("Who accepted it; null: nobody yet"),
});
export type GivenShare = z.infer<typeof givenShareSchema>;

/** The link is shown only this once. */
export const createdShareSchema = z.object({
  ...givenShareSchema.shape,
  link: z.url().describe("Whoever opens it first, signed in to another account, gets the devices"),
  link_expires: time,
  qr_svg: z.string().describe("The link as a QR code: an SVG document"),
});

/** A share as its receiver sees it. */
export const receivedShareSchema = z.object({
  id: z.string(),
  name: z.string(),
  shared_by: z.string(),
  summary: z.string().describe("What it allows, in a sentence"),
  devices: z.array(z.object({ id: z.string(), name: z.string() })),
  accepted: time,
  expires: time,
});
export type ReceivedShare = z.infer<typeof receivedShareSchema>;

/** `GET /v1/shares` */
export const shareListSchema = z.object({
  given: z.array(givenShareSchema),
  received: z.array(receivedShareSchema),
});

/** `POST /v1/shares/accept` */
export const acceptedShareSchema = z.strictObject({ code: z.string().max(4096) });
