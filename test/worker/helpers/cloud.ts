/** Files in the cloud store, without a device that sends them. */
import { env } from "cloudflare:workers";
import type { CloudFile } from "@matrx/shared/cloud-file-api.ts";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";
import { decodeJwt } from "jose";
import { keyOf } from "../../../worker/account/cloud-file-rows.ts";
import { copyIn } from "../../../worker/cloud/copy-in.ts";
import { cloudStore } from "../../../worker/cloud/open-store.ts";
import { unwrap } from "../../../worker/outcome.ts";
import type { Person } from "./relay.ts";

/** The account's object, and the grant of the person's session. */
export function accountOf({ account, accessToken }: Person) {
  const grant = decodeJwt(accessToken).gid as GrantId;
  return { accounts: env.ACCOUNT.getByName(account as AccountId), grant };
}

/** Begins a file as the Worker does when a device sends one; returns its id. */
export async function begunFile(person: Person, size: number | null, days = 7): Promise<string> {
  const { accounts, grant } = accountOf(person);
  const facts = { name: "a.txt", device: "home-0000000000", path: "/a.txt", media_type: "text/plain" };
  return unwrap(await accounts.beginCloudFile(grant, { ...facts, size, days }));
}

export async function storedFile(person: Person, text: string, days = 7): Promise<CloudFile> {
  const { accounts, grant } = accountOf(person);
  const bytes = Uint8Array.from(new TextEncoder().encode(text));
  const { length } = bytes;
  const id = await begunFile(person, length, days);
  const stored = await copyIn(cloudStore(env), keyOf(person.account, id), {
    ...{ bytes: streamOf([bytes]), length },
    onArrived: async () => undefined,
  });
  return unwrap(await accounts.finishCloudFile(grant, id, stored));
}

/** A stream of bytes of these pieces; an error among them ends it. */
export function streamOf(pieces: Iterable<Uint8Array<ArrayBuffer> | Error>): ReadableStream<Uint8Array> {
  const rest = pieces[Symbol.iterator]();
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const { value, done } = rest.next();
      if (done) {
        controller.close();
        controller.byobRequest?.respond(0);
      } else if (value instanceof Error) controller.error(value);
      else controller.enqueue(value);
    },
  });
}
