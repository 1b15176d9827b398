/** The rows of cloud files: how much an account may keep, for how long, and what ends a file that never arrived. */
import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { cloudFileListSchema } from "@matrx/shared/cloud-file-api.ts";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { keyOf } from "../../../worker/account/cloud-file-rows.ts";
import { cloudStore } from "../../../worker/cloud/open-store.ts";
import { unwrap } from "../../../worker/outcome.ts";
import { accountOf, begunFile, storedFile } from "../helpers/cloud.ts";
import { bearer, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const GiB = 1024 ** 3;

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: Date.now() }));
afterEach(() => vi.useRealTimers());

function pass(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

async function listed(person: Person) {
  return cloudFileListSchema.parse(await (await person.ask("/v1/cloud-files")).json());
}

async function keys({ account }: Person): Promise<string[]> {
  const { objects } = (await env.CLOUD_BUCKET?.list({ prefix: `${account}/` })) ?? { objects: [] };
  return objects.map(({ key }) => key);
}

it("a file is there until it expires, and its bytes go with it", async () => {
  const person = await Person.signIn();
  const short = await storedFile(person, "one day", 1);
  const long = await storedFile(person, "30 days", 30);
  expect(await (await person.ask(`/v1/cloud-files/${short.id}`)).text()).toBe("one day");
  pass(DAY);
  expect((await person.ask(`/v1/cloud-files/${short.id}`)).status).toBe(404);
  expect((await listed(person)).files.map(({ id }) => id)).toEqual([long.id]);
  await runDurableObjectAlarm(accountOf(person).accounts);
  expect(await keys(person)).toEqual([keyOf(person.account, long.id)]);
});

it("an account keeps 10 GiB, what is arriving included", async () => {
  const person = await Person.signIn();
  const { accounts, grant } = accountOf(person);
  const first = await begunFile(person, 6 * GiB);
  await expect(begunFile(person, 4 * GiB + 1)).rejects.toMatchObject({
    code: "PAYLOAD_TOO_LARGE",
    details: { bytes: 6 * GiB, max_bytes: 10 * GiB },
  });
  // A folder's zip: nobody knows how long it will be.
  const zip = await begunFile(person, null);
  unwrap(await accounts.cloudFileArrived(grant, zip, 3 * GiB));
  expect(await accounts.cloudFileArrived(grant, zip, 5 * GiB)).toMatchObject({
    error: { code: "PAYLOAD_TOO_LARGE" },
  });
  expect(await listed(person)).toMatchObject({ bytes: 9 * GiB });
  expect((await person.ask(`/v1/cloud-files/${first}`, { method: "DELETE" })).status).toBe(204);
  await begunFile(person, 7 * GiB);
  expect((await listed(await Person.signIn())).bytes).toBe(0);
});

it("a file of which nothing was heard for ten minutes is dropped, and cannot be finished", async () => {
  const person = await Person.signIn();
  const { accounts, grant } = accountOf(person);
  const [slow, lost] = [await begunFile(person, 10), await begunFile(person, 10)];
  pass(9 * MINUTE);
  unwrap(await accounts.cloudFileArrived(grant, slow, 5));
  pass(MINUTE);
  // Its bytes had all arrived, but whoever was to say so is gone.
  await cloudStore(env).put(
    keyOf(person.account, lost),
    new Response("0123456789").body as ReadableStream,
    10,
  );
  await runDurableObjectAlarm(accounts);
  expect((await listed(person)).files.map(({ id }) => id)).toEqual([slow]);
  expect(await keys(person)).toEqual([]);
  expect(await accounts.finishCloudFile(grant, lost, { size: 10, sha256: "" })).toMatchObject({
    error: { code: "NOT_FOUND" },
  });
  expect(await accounts.cloudFileArrived(grant, lost, 10)).toMatchObject({ error: { code: "NOT_FOUND" } });
});

it("nothing stays of a file that was removed while its last bytes arrived", async () => {
  const person = await Person.signIn();
  const { accounts, grant } = accountOf(person);
  const [told, silent] = [await begunFile(person, 4), await begunFile(person, 4)];
  for (const id of [told, silent])
    expect((await person.ask(`/v1/cloud-files/${id}`, { method: "DELETE" })).status).toBe(204);
  expect(await listed(person)).toMatchObject({ files: [], bytes: 0 });
  // The transfers learn of it only at their end: one says so, the other is cut off first.
  for (const id of [told, silent])
    await cloudStore(env).put(keyOf(person.account, id), new Response("late").body as ReadableStream, 4);
  const ended = await accounts.finishCloudFile(grant, told, { size: 4, sha256: "0".repeat(64) });
  expect(ended).toMatchObject({ error: { code: "NOT_FOUND" } });
  await accounts.dropCloudFile(told);
  expect(await keys(person)).toEqual([keyOf(person.account, silent)]);
  pass(10 * MINUTE);
  await runDurableObjectAlarm(accounts);
  expect(await keys(person)).toEqual([]);
});

it("a range is of a GET: HEAD tells of the whole file", async () => {
  const person = await Person.signIn();
  const { id } = await storedFile(person, "0123456789");
  for (const Range of ["bytes=2-4", "bytes=99-"]) {
    const head = await person.ask(`/v1/cloud-files/${id}`, { method: "HEAD", headers: { Range } });
    expect([head.status, head.headers.get("Content-Length"), head.headers.get("Content-Range")]).toEqual([
      ...[200, "10", null],
    ]);
  }
  const part = await person.ask(`/v1/cloud-files/${id}`, { headers: { Range: "bytes=2-4" } });
  expect([part.status, await part.text()]).toEqual([206, "234"]);
});

it("another account can neither see, fetch nor remove it", async () => {
  const [ann, bob] = [await Person.signIn(), await Person.signIn()];
  const { id } = await storedFile(ann, "hers");
  expect((await listed(bob)).files).toEqual([]);
  for (const method of ["GET", "HEAD", "DELETE"])
    expect((await bob.ask(`/v1/cloud-files/${id}`, { method })).status).toBe(404);
  for (const name of [`..%2F${ann.account}%2F${id}`, encodeURIComponent(`../${ann.account}/${id}`)])
    expect((await bob.ask(`/v1/cloud-files/${name}`)).status).toBe(404);
  const { token } = await ann.token({ access: "full" });
  expect((await ask(`/v1/cloud-files/${id}`, { headers: bearer(token) })).status).toBe(403);
  expect(await (await ann.ask(`/v1/cloud-files/${id}`)).text()).toBe("hers");
});

it("a name never breaks out of its header", async () => {
  const person = await Person.signIn();
  const { accounts, grant } = accountOf(person);
  const facts = { device: "home-0000000000", path: "/a", media_type: "text/html", size: 0, days: 1 };
  const name = 'a"\r\nSet-Cookie: x=y\r\n\r\n<script>ü';
  const id = unwrap(await accounts.beginCloudFile(grant, { ...facts, name }));
  unwrap(await accounts.finishCloudFile(grant, id, { size: 0, sha256: "0".repeat(64) }));
  const { headers } = await person.ask(`/v1/cloud-files/${id}`);
  expect(headers.get("Set-Cookie")).toBeNull();
  expect(headers.get("Content-Disposition")).toMatch(/^attachment; filename="a___Set-Cookie/);
  expect(headers.get("Content-Security-Policy")).toMatch(/^sandbox/);
});

it("nothing is left of an account that is closed", async () => {
  const person = await Person.signIn();
  await storedFile(person, "mine");
  await accountOf(person).accounts.close();
  expect(await keys(person)).toEqual([]);
});
