/** Objects whose storage takes no writes, or that break. On a real full disk: test/e2e/full-disk.test.ts. */
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { errorShapeOf } from "../../../worker/problem.ts";
import { StorageHealth } from "../../../worker/storage/health.ts";
import { storageFailure } from "../../../worker/storage-failure.ts";
import { home, object } from "../helpers/home.ts";
import { bearer, json } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

const full = new Error("database or disk is full: SQLITE_FULL");

describe("an object's life", () => {
  it("that began while a write of the one before was not confirmed makes none, until another object could", async () => {
    const id = crypto.randomUUID();
    let probes = 0;
    let isFull = true;
    const probe = async () => {
      probes++;
      if (isFull) throw full;
    };
    const sync = () => new Promise<never>(() => undefined);
    const before = new StorageHealth({ id, sync, probe });
    before.requireWritable();
    before.wrote();
    before.wrote();

    const after = new StorageHealth({ id, sync, probe });
    expect(after.isFailing).toBe(true);
    await expect.poll(() => probes).toBe(1);
    expect(() => after.requireWritable()).toThrow(
      expect.objectContaining({ code: "UNAVAILABLE", hop: "relay" }),
    );
    isFull = false;
    await expect
      .poll(
        () => {
          after.probe();
          return after.isFailing;
        },
        { timeout: 5000 },
      )
      .toBe(false);
    after.requireWritable();
    expect(probes).toBe(2);
    expect(new StorageHealth({ id, sync, probe }).isFailing).toBe(false);
  });

  it("that began after all was confirmed writes", async () => {
    const id = crypto.randomUUID();
    const confirming = Promise.withResolvers<void>();
    const probe = () => Promise.reject(full);
    new StorageHealth({ id, sync: () => confirming.promise, probe }).wrote();
    confirming.resolve();
    await confirming.promise;
    await Promise.resolve();
    expect(new StorageHealth({ id, sync: () => confirming.promise, probe }).isFailing).toBe(false);
  });
});

describe("a call whose object breaks", () => {
  async function broken(tool: string) {
    const { identity, device, token } = await home();
    const asking = ask(`/v1/devices/${identity.id}/tools/${tool}`, json({}, bearer(token)));
    const execute = await device.expect("tool_execute");
    await runInDurableObject(object(identity.id), (_, state) =>
      state.abort("database or disk is full: SQLITE_FULL"),
    ).catch(() => undefined);
    return { response: await asking, execute, identity };
  }

  it("is answered with where to look when it has a record", async () => {
    const { response, execute, identity } = await broken("Write");
    const call = execute.tool_call_id;
    expect([response.status, response.headers.get("Matrx-Call")]).toEqual([502, call]);
    expect(await response.json()).toMatchObject({
      ...{ code: "OUTCOME_UNKNOWN", hop: "relay", call, url: `/v1/devices/${identity.id}/calls/${call}` },
    });
  });

  it("is one to be made again when it only reads", async () => {
    const { response, execute } = await broken("Read");
    expect([response.status, response.headers.get("Matrx-Call")]).toEqual([503, execute.tool_call_id]);
    expect(await response.json()).toMatchObject({ code: "UNAVAILABLE", storage: "full", hop: "relay" });
  });
});

it.each([
  ["database or disk is full: SQLITE_FULL", "full"],
  ["database disk image is malformed: SQLITE_CORRUPT", "damaged"],
  ["file is not a database: SQLITE_NOTADB", "damaged"],
  ["disk I/O error: SQLITE_IOERR", "failed"],
  ["internal error; reference = vjo39cr5b9vogf9ipbr25fki", "failed"],
])("the error %s is the storage's: %s", (message, storage) => {
  expect(errorShapeOf(new Error(message))).toMatchObject({
    ...{ code: "UNAVAILABLE", hop: "relay", hint: expect.any(String), details: { storage } },
  });
});

it("a database that could not be opened may be behind a full disk: a backup is not the first advice", () => {
  const failure = storageFailure(new Error("internal error; reference = vjo39cr5b9vogf9ipbr25fki"));
  expect(failure?.hint).toMatch(/free some space if the relay's disk is full, else restore the relay's data/);
});

it("another error is not the storage's", () => {
  expect(storageFailure(new TypeError("x is not a function"))).toBeUndefined();
  expect(storageFailure("SQLITE_FULL")).toBeUndefined();
});
