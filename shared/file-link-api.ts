/** REST bodies of links to files: whoever has one downloads that file, until it expires or is revoked. */
import * as z from "zod";
import { fullPathSchema } from "./access-rules.ts";

/** `POST /v1/devices/{device}/file-links` */
export const newFileLinkSchema = z.strictObject({
  path: fullPathSchema.describe("Full path of a file, or of a folder, which is sent as a zip"),
  hours: z.int().min(1).max(8760).default(168).describe("How long the link works"),
});
export type NewFileLink = z.infer<typeof newFileLinkSchema>;

export const fileLinkSchema = z.object({
  id: z.string().describe("Its grant: DELETE /v1/tokens/ID ends the link"),
  url: z.string().describe("The link, shown only once: whoever has it may download the file"),
  path: z.string(),
  expires: z.iso.datetime(),
});
export type FileLink = z.infer<typeof fileLinkSchema>;
