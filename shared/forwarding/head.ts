/** The head of a response that a device forwards: JSON behind its length in four bytes, before the bytes of the body. */
import * as z from "zod";
import type { ExactSource } from "./pieces.ts";

/** What the head of a request or a response may have at most, in bytes of JSON. */
export const HEAD_BYTES = 64 * 1024;

/** Names and values, in order; a name may be there several times. */
export const headersSchema = z.array(z.tuple([z.string().min(1), z.string()])).max(256);
export type HeaderList = z.infer<typeof headersSchema>;

const responseHeadSchema = z.object({
  status: z.int().min(101).max(599),
  headers: headersSchema,
  /** The subprotocol of a WebSocket that was opened. */
  protocol: z.string().optional(),
});
export type ResponseHead = z.infer<typeof responseHeadSchema>;

const LENGTH_BYTES = 4;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Undefined if it would be larger than `HEAD_BYTES`. */
export function encodeHead(head: ResponseHead): Uint8Array | undefined {
  const json = encoder.encode(JSON.stringify(head));
  if (json.length > HEAD_BYTES) return undefined;
  const bytes = new Uint8Array(LENGTH_BYTES + json.length);
  new DataView(bytes.buffer).setUint32(0, json.length);
  bytes.set(json, LENGTH_BYTES);
  return bytes;
}

/** Throws if the bytes do not begin with a head, or end within it. */
export async function readHead(source: ExactSource): Promise<ResponseHead> {
  const prefix = await source.exactly(LENGTH_BYTES);
  if (!prefix) throw new Error("The device sent no head");
  const length = new DataView(prefix.buffer, prefix.byteOffset).getUint32(0);
  if (length === 0 || length > HEAD_BYTES) throw new Error(`The device sent a head of ${length} bytes`);
  const json = await source.exactly(length);
  return responseHeadSchema.parse(JSON.parse(decoder.decode(json)));
}

/** Headers that are for one connection only (RFC 9110, section 7.6.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Without those that are for one connection only, also those that `Connection` names. */
export function endToEnd(headers: Iterable<readonly [string, string]>): [string, string][] {
  const all = [...headers];
  const named = all
    .filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) =>
      value
        .toLowerCase()
        .split(",")
        .map((part) => part.trim()),
    );
  const own = new Set([...HOP_BY_HOP, ...named]);
  return all.filter(([name]) => !own.has(name.toLowerCase())).map(([name, value]) => [name, value]);
}
