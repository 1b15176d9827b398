/** Calls of a device's tools for transfers. */
import type { Device } from "@matrx/client/device.ts";
import type { Input, Opened } from "@matrx/client/transport.ts";
import { callerError, type MatrxError } from "@matrx/shared/errors.ts";
import * as z from "zod";

const factsSchema = z.object({
  kind: z.enum(["file", "directory"]),
  path: z.string(),
  name: z.string(),
  size: z.number().optional(),
  mode: z.string(),
  modified: z.string(),
  etag: z.string().optional(),
  sha256: z.string().optional(),
});
export type RemoteFacts = z.infer<typeof factsSchema>;

const listSchema = z.object({
  path: z.string(),
  entries: z.array(z.looseObject({ name: z.string(), type: z.string(), name_base64: z.string().optional() })),
  next_after: z.string().optional(),
});
export type RemoteEntry = z.infer<typeof listSchema>["entries"][number];

/** What the device may send before it is taken. */
const DOWN_CREDIT = 1024 * 1024;
/** Of an upload only the end comes back. */
const UP_CREDIT = 32 * 1024;
const MOST_ENTRIES = 5000;

export class DeviceCalls {
  readonly #device: Device;
  readonly #signal: AbortSignal;

  /** The signal cancels calls and streams. */
  constructor(device: Device, signal: AbortSignal) {
    this.#device = device;
    this.#signal = signal;
  }

  /** Throws MatrxError. */
  info(path: string): Promise<RemoteFacts> {
    return this.call("FileInfo", { path }, factsSchema);
  }

  /** All entries of a folder, hidden ones too. Throws MatrxError. */
  async *list(path: string): AsyncGenerator<RemoteEntry> {
    let after: string | undefined;
    do {
      const input = { path, show_hidden: true, limit: MOST_ENTRIES, ...(after !== undefined && { after }) };
      const page = await this.call("ListDirectory", input, listSchema);
      yield* page.entries;
      after = page.next_after;
    } while (after !== undefined);
  }

  /** Throws MatrxError. */
  async call<Schema extends z.ZodType>(tool: string, input: Input, schema: Schema): Promise<z.infer<Schema>> {
    const answer = await this.#device.call(tool, input, { signal: this.#signal, cancelOnDisconnect: true });
    return parsed(tool, answer, schema);
  }

  download(input: Input): Promise<Opened> {
    return this.#device.open("Download", input, { credit: DOWN_CREDIT, signal: this.#signal });
  }

  upload(tool: "Upload" | "UploadAppend", input: Input): Promise<Opened> {
    return this.#device.open(tool, input, { credit: UP_CREDIT, signal: this.#signal });
  }
}

/** What a tool says of its answer. Throws MatrxError. */
export function parsed<Schema extends z.ZodType>(
  tool: string,
  answer: Opened["answer"],
  schema: Schema,
): z.infer<Schema> {
  const { data } = schema.safeParse(answer.metadata);
  if (data === undefined) throw notUnderstood(tool);
  return data;
}

function notUnderstood(tool: string): MatrxError {
  return callerError("INVALID_MESSAGE", `The device's answer of ${tool} was not understood`, {
    hint: "Update the agent there, or this program",
  });
}
