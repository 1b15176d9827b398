/** An upload's record on disk, which survives a restart of the agent. The bytes are in a file beside the target. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { randomBase32 } from "@matrx/shared/ids.ts";
import * as z from "zod";
import { makePrivateFolder, writePrivateFile } from "../platform/private-file.ts";

export const uploadIdSchema = z.string().regex(/^upload_[0-9a-hjkmnp-tv-z]{20}$/, "must be an upload's id");

const uploadRecordSchema = z.object({
  id: uploadIdSchema,
  grant: z.string(),
  /** Where the file will be; canonical. */
  path: z.string(),
  /** The same for messages. */
  shown: z.string(),
  /** The inode of the part that has arrived; absent: it was not created yet. */
  part: z.string().optional(),
  /** The file whose attributes the part has: device and inode. */
  successor_of: z.string().optional(),
  size: z.int().nonnegative().optional(),
  sha256: z.string().optional(),
  /** Of a new file. */
  mode: z.int(),
  /** Milliseconds since 1970. */
  modified: z.number().optional(),
  overwrite: z.boolean(),
  /** Whether it may be written in place where it cannot be replaced. */
  in_place: z.boolean(),
  /** Whether what has arrived is kept when a stream breaks. */
  resumable: z.boolean(),
  if_etag: z.string().optional(),
  /** A person allowed it. `stamp` is the state of the target then; null: nothing was there. */
  approved: z.object({ stamp: z.string().nullable() }).optional(),
  /** Milliseconds since 1970. */
  expires: z.number(),
});

export type UploadRecord = z.infer<typeof uploadRecordSchema>;

export function makeUploadId(): string {
  return `upload_${randomBase32(20)}`;
}

/** The records of a folder, kept in files of their own. */
export class UploadRecords {
  readonly #folder: string;

  /** Creates the folder. Throws MatrxError. */
  constructor(folder: string) {
    this.#folder = folder;
    makePrivateFolder(folder);
  }

  /** Damaged ones are left out. */
  all(): UploadRecord[] {
    const names = readdirSync(this.#folder).filter((name) => name.endsWith(".json"));
    return names.flatMap((name) => {
      try {
        return [uploadRecordSchema.parse(JSON.parse(readFileSync(join(this.#folder, name), "utf8")))];
      } catch {
        return [];
      }
    });
  }

  save(record: UploadRecord): void {
    writePrivateFile(this.#fileOf(record.id), JSON.stringify(record));
  }

  remove(id: string): void {
    rmSync(this.#fileOf(id), { force: true });
  }

  #fileOf(id: string): string {
    return join(this.#folder, `${id}.json`);
  }
}
