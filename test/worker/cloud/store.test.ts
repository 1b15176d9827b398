/** The R2 side of the cloud store, and what is copied into it. Cloudflare's own bucket is not here: this is Miniflare's. */
import { env } from "cloudflare:workers";
import { hexOf } from "@matrx/shared/ids.ts";
import { expect, it } from "vitest";
import { copyIn } from "../../../worker/cloud/copy-in.ts";
import { cloudStore } from "../../../worker/cloud/open-store.ts";
import { streamOf } from "../helpers/cloud.ts";

const MIB = 1024 * 1024;
const store = cloudStore(env);
const nobody = async () => undefined;

/** Made anew each time: a stream takes their buffers. */
function pieces(count: number): Uint8Array<ArrayBuffer>[] {
  return Array.from({ length: count }, (_, at) => new Uint8Array(MIB).fill(at));
}

async function digestOf(bytes: Iterable<Uint8Array<ArrayBuffer>>): Promise<string> {
  const all = await new Blob([...bytes]).arrayBuffer();
  return hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", all)));
}

async function read(key: string, part?: { offset: number; length: number }): Promise<Uint8Array | undefined> {
  const bytes = await store.get(key, part);
  return bytes && new Uint8Array(await new Response(bytes).arrayBuffer());
}

it.each([
  { name: "of known length", count: 3, length: 3 * MIB },
  { name: "of unknown length, in several parts", count: 37, length: undefined },
  { name: "whose parts end where it does", count: 32, length: undefined },
  { name: "that is empty", count: 0, length: 0 },
  { name: "that is empty, of unknown length", count: 0, length: undefined },
])("keeps a file $name", async ({ name, count, length }) => {
  const arrived: number[] = [];
  const stored = await copyIn(store, name, {
    ...{ bytes: streamOf(pieces(count)), length },
    onArrived: async (size) => void arrived.push(size),
  });
  expect(stored).toEqual({ size: count * MIB, sha256: await digestOf(pieces(count)) });
  expect(arrived.at(-1) ?? 0).toBe(count * MIB);
  expect(await digestOf([((await read(name)) ?? new Uint8Array()) as Uint8Array<ArrayBuffer>])).toBe(
    stored.sha256,
  );
  if (count > 2) expect(await read(name, { offset: 2 * MIB - 1, length: 2 })).toEqual(new Uint8Array([1, 2]));
  await store.delete(name);
  expect(await read(name)).toBeUndefined();
});

it.each([
  { name: "breaks off", length: 30 * MIB, end: [new Error("the line broke")] },
  { name: "breaks off, of unknown length", length: undefined, end: [new Error("the line broke")] },
  { name: "is shorter than was said", length: 30 * MIB, end: [] },
  { name: "is longer than was said", length: 20 * MIB - 1, end: [] },
])("nothing stays of a file that $name", async ({ name, length, end }) => {
  const bytes = streamOf([...pieces(20), ...end]);
  await expect(copyIn(store, name, { bytes, length, onArrived: nobody })).rejects.toMatchObject({
    code: "UNAVAILABLE",
  });
  expect(await read(name)).toBeUndefined();
});

it("a store that fails ends the copy with its own error", async () => {
  const failing = { ...store, put: () => Promise.reject(new Error("the disk is full")) };
  const bytes = streamOf(pieces(5));
  await expect(copyIn(failing, "x", { bytes, length: 5 * MIB, onArrived: nobody })).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: "The cloud store did not take the file",
  });
});

it("a relay without a store says so", () => {
  expect(() => cloudStore({})).toThrow(expect.objectContaining({ code: "UNAVAILABLE" }));
});
