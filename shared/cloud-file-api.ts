/** REST bodies of the cloud store, where an account keeps copies of its machines' files for a time. */
import * as z from "zod";
import { fullPathSchema } from "./access-rules.ts";

/** `POST /v1/devices/{device}/cloud-files` */
export const newCloudFileSchema = z.strictObject({
  path: fullPathSchema.describe("Full path of a file, or of a folder, which is stored as a zip"),
  days: z.int().min(1).max(30).default(7).describe("How long it is kept"),
});
export type NewCloudFile = z.infer<typeof newCloudFileSchema>;

export const cloudFileSchema = z.object({
  id: z.string(),
  name: z.string(),
  device: z.string().describe("Where it came from"),
  path: z.string().describe("Its path there"),
  media_type: z.string(),
  state: z.enum(["arriving", "stored"]),
  arrived: z.int().describe("How many of its bytes are stored"),
  size: z.int().nullable().describe("In bytes; null until a folder's zip has arrived"),
  sha256: z.string().nullable().describe("In hex; null until all of it has arrived"),
  created: z.iso.datetime(),
  expires: z.iso.datetime().describe("When it is deleted"),
});
export type CloudFile = z.infer<typeof cloudFileSchema>;

/** `GET /v1/cloud-files` */
export const cloudFileListSchema = z.object({
  files: z.array(cloudFileSchema),
  bytes: z.int().describe("What all of them take"),
  max_bytes: z.int().describe("What the account may keep"),
});

/** `POST /v1/devices/{device}/cloud-copies` */
export const newCloudCopySchema = z.strictObject({
  file: z.string().max(64).describe("The id of a file in the cloud store"),
  path: fullPathSchema.describe("Full path on the device that it gets"),
  overwrite: z.boolean().default(true).describe("Replace an existing file"),
  create_directories: z.boolean().default(false).describe("Create missing parent directories"),
});

export const cloudCopySchema = z.object({
  path: z.string(),
  created: z.boolean().describe("False if it replaced a file"),
  sha256: z.string(),
});
