/** The relay's cloud store, as the command line uses it. */

import { pathOf, type RelayClient } from "@matrx/client/http/relay-client.ts";
import type { CloudFile } from "@matrx/shared/cloud-file-api.ts";
import { callerError, MatrxError } from "@matrx/shared/errors.ts";
import { errorInProblem } from "@matrx/shared/problem.ts";
import { EventSourceParserStream } from "eventsource-parser/stream";
import * as z from "zod";
import type { Source } from "../copy/ends.ts";
import { parsedJson } from "./json.ts";

const arrivedSchema = z.object({ bytes: z.number(), total: z.number().nullable() });

/** `total`: undefined if nobody knows it yet. */
export type OnArrived = (bytes: number, total: number | undefined) => void;

export interface TransferWish {
  readonly path: string;
  readonly body: object;
  readonly signal: AbortSignal;
  readonly onArrived: OnArrived;
}

/** Has the relay transfer a file; resolves when it is stored. Throws MatrxError. */
export async function transfer<Schema extends z.ZodType>(
  client: RelayClient,
  schema: Schema,
  { path, body, signal, onArrived }: TransferWish,
): Promise<z.infer<Schema>> {
  const headers = { Accept: "text/event-stream" };
  const bytes = await client.open(path, { method: "POST", body, headers, signal });
  const events = bytes
    .pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream());
  try {
    for await (const { event, data } of events as unknown as AsyncIterable<{
      event?: string;
      data: string;
    }>) {
      const value = parsedJson(data);
      if (event === "arrived") {
        const { bytes: arrived, total } = arrivedSchema.parse(value);
        onArrived(arrived, total ?? undefined);
      }
      if (event === "stored") return schema.parse(value);
      if (event === "error") throw errorInProblem(value) ?? notUnderstood();
    }
  } catch (error) {
    if (signal.aborted || error instanceof MatrxError) throw error;
    throw error instanceof z.ZodError ? notUnderstood() : client.brokeOff(error);
  }
  throw client.brokeOff(new Error("the relay ended the connection"));
}

/** A file of the store that is copied to this machine. */
export function cloudSource(client: RelayClient, file: CloudFile, signal: AbortSignal): Source {
  const { id, size, sha256, created } = file;
  if (size === null || sha256 === null)
    throw callerError("CONFLICT", "The file is still arriving in the cloud store", {
      hint: "Try again later",
    });
  return {
    id: `cloud:${id}`,
    facts: { size, mode: "0600", modified: created, version: sha256, sha256 },
    async *read(offset) {
      if (offset >= size) return;
      const headers = { Range: `bytes=${offset}-` };
      const bytes = await client.open(pathOf("v1", "cloud-files", id), { headers, signal });
      try {
        yield* bytes as unknown as AsyncIterable<Uint8Array>;
      } catch (error) {
        if (signal.aborted) throw error;
        throw client.brokeOff(error);
      }
    },
    digestStart: async () => false,
    close: async () => undefined,
  };
}

function notUnderstood(): MatrxError {
  return callerError("INVALID_MESSAGE", "The relay's answer was not understood", {
    hint: "Update the relay, or this program",
  });
}
