/** Stored data of other versions: older data is brought up to date, newer data is refused and left alone. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { type Migration, migrate } from "../../../worker/storage/migrate.ts";
import { ACCOUNT, AUDIT, DEVICE, DIRECTORY } from "../../../worker/storage/migrations.ts";
import { home, object } from "../helpers/home.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";
import { countRows } from "../helpers/written-rows.ts";

/** Runs in the storage of an object that nothing else uses. */
function inStorage<Result>(use: (storage: DurableObjectStorage) => Result): Promise<Result> {
  const scratch = env.ANONYMOUS_RATE_LIMIT.getByName(crypto.randomUUID());
  return runInDurableObject(scratch, (_, { storage }) => use(storage));
}

function schemaOf({ sql }: DurableObjectStorage): unknown[] {
  const schema = sql.exec(
    "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\' ORDER BY name",
  );
  return schema.toArray();
}

describe("migrations", () => {
  it("run once and in order, and cost no write when there are none", async () => {
    const ran: number[] = [];
    const steps: Migration[] = [1, 2, 3].map((n) => () => void ran.push(n));
    const written = await inStorage((storage) => {
      migrate(storage, steps.slice(0, 1));
      migrate(storage, steps);
      const count = countRows(storage);
      migrate(storage, steps);
      return count.rows;
    });
    expect([ran, written]).toEqual([[1, 2, 3], 0]);
  });

  it("leave all as it was when one fails, and run again the next time", async () => {
    const full: Migration = ({ sql, kv }) => {
      sql.exec("ALTER TABLE t ADD COLUMN b");
      kv.put("half", true);
      throw new Error("database or disk is full: SQLITE_FULL");
    };
    const make: Migration = ({ sql }) => void sql.exec("CREATE TABLE t (a)");
    const alter: Migration = ({ sql }) => void sql.exec("ALTER TABLE t ADD COLUMN b");
    const after = await inStorage((storage) => {
      expect(() => migrate(storage, [make, full])).toThrow("SQLITE_FULL");
      const failed = [storage.kv.get("half"), schemaOf(storage)];
      migrate(storage, [make, alter]);
      return { failed, mended: schemaOf(storage) };
    });
    expect(after).toEqual({
      failed: [undefined, [{ name: "t", sql: "CREATE TABLE t (a)" }]],
      mended: [{ name: "t", sql: "CREATE TABLE t (a, b)" }],
    });
  });

  it.each([
    ["Account", ACCOUNT],
    ["Audit", AUDIT],
    ["Device", DEVICE],
    ["Directory", DIRECTORY],
  ])("of %s make the same tables from each older version as from nothing", async (_, steps) => {
    const fresh = await inStorage((storage) => {
      migrate(storage, steps);
      return schemaOf(storage);
    });
    expect(fresh.length).toBeGreaterThan(0);
    for (let version = 0; version < steps.length; version++) {
      const migrated = await inStorage((storage) => {
        migrate(storage, steps.slice(0, version));
        migrate(storage, steps);
        return schemaOf(storage);
      });
      expect(migrated).toEqual(fresh);
    }
  });

  it("keep an account's devices and who holds its grants: without tags, and with the only version there was", async () => {
    const rows = await inStorage((storage) => {
      const { sql } = storage;
      migrate(storage, ACCOUNT.slice(0, 3));
      sql.exec("INSERT INTO devices (id, name, created) VALUES ('laptop-1', 'laptop', 5)");
      sql.exec("INSERT INTO leases (grant_id, device) VALUES ('grant_1', 'laptop-1')");
      migrate(storage, ACCOUNT);
      return [...sql.exec("SELECT * FROM devices"), ...sql.exec("SELECT * FROM leases")];
    });
    expect(rows).toEqual([
      { id: "laptop-1", name: "laptop", created: 5, tags: "[]" },
      { grant_id: "grant_1", device: "laptop-1", version: 1, acknowledged: 1 },
    ]);
  });

  it("store nothing for a device that nobody added", async () => {
    const stored = await runInDurableObject(object("nobody-0123456789"), (_, { storage }) => [
      ...storage.kv.list(),
      ...schemaOf(storage),
    ]);
    expect(stored).toEqual([]);
  });
});

describe("a device of before there were versions", () => {
  it("keeps what it stored, under the names of today", async () => {
    const { person, identity, device } = await home();
    device.close();
    await device.closed;
    await runInDurableObject(object(identity.id), (_, { storage: { sql, kv } }) => {
      for (const key of ["schema_version", "device_info", "last_seen"]) kv.delete(key);
      sql.exec("DROP TABLE events");
      sql.exec("ALTER TABLE ledger DROP COLUMN audit");
      const told = {
        hostname: "old",
        os: "Linux",
        os_version: "6",
        agent_version: "0",
        journal_id: "journal-1",
      };
      kv.put("introduction", told);
      kv.put("farewell", { last_seen: 1_700_000_000_000, proof: null });
    });
    await evictDurableObject(object(identity.id));
    const view = await (await person.ask(`/v1/devices/${identity.id}`)).json();
    expect(view).toMatchObject({ hostname: "old", last_seen: "2023-11-14T22:13:20.000Z", alerts: 0 });
    const stored = await runInDurableObject(object(identity.id), (_, { storage }) => ({
      version: storage.kv.get("schema_version"),
      former: ["introduction", "farewell"].filter((key) => storage.kv.get(key) !== undefined),
    }));
    expect(stored).toEqual({ version: DEVICE.length, former: [] });
  });
});

describe("data of a newer relay", () => {
  const NEWER = {
    code: "UNAVAILABLE",
    hop: "relay",
    storage: "newer",
    hint: expect.stringMatching(/Update the relay/),
  };

  const keys = ({ kv }: DurableObjectStorage) => JSON.stringify([...kv.list()]);

  /** A newer program has been here. Returns what it left. */
  async function leaveNewer(stub: DurableObjectStub): Promise<void> {
    await runInDurableObject(stub, (_, { storage }) => storage.kv.put("schema_version", 99));
    await evictDurableObject(stub);
  }

  it.each([
    ["POST", "/tools/Bash"],
    ["POST", "/tools/Read"],
    ["GET", "/tools"],
    ["GET", "/calls"],
    ["GET", "/events"],
    ["GET", ""],
  ])("of a device is refused by %s %s, and nothing runs", async (method, route) => {
    const { identity, device, token } = await home();
    await leaveNewer(object(identity.id));
    const init = method === "POST" ? json({}, bearer(token)) : { headers: bearer(token) };
    const response = await ask(`/v1/devices/${identity.id}${route}`, init);
    expect([response.status, await response.json()]).toMatchObject([503, NEWER]);
    expect(device.unread).toBe(0);
  });

  it("of a device is refused to sockets with 503, after which agents try again", async () => {
    const { person, identity, token } = await home();
    await runInDurableObject(object(identity.id), (_, { storage }) =>
      storage.kv.put("policy", { extra: "of later" }),
    );
    await leaveNewer(object(identity.id));
    for (const [path, headers] of [
      [`/v1/device/ws?device=${identity.id}`, {}],
      [`/v1/devices/${identity.id}/ws`, bearer(token)],
    ] as const) {
      const response = await ask(path, { headers: { Upgrade: "websocket", ...headers } });
      expect([response.status, await response.json()]).toMatchObject([503, NEWER]);
    }
    expect((await person.setPolicy(identity.id, {})).status).toBe(503);
  });

  it("of a device is refused by the guide's route in the guide's shape", async () => {
    const { identity, token } = await home();
    await leaveNewer(object(identity.id));
    const wish = json({ tool: "Bash", input: {} }, bearer(token));
    const response = await ask(`/v1/devices/${identity.id}/tools/invoke`, wish);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      type: "error",
      code: "UNAVAILABLE",
      metadata: { storage: "newer" },
    });
  });

  it("of an account is refused to all who come with its tokens", async () => {
    const person = await Person.signIn();
    const { token } = await person.token({ access: "full" });
    await leaveNewer(env.ACCOUNT.getByName(person.account));
    for (const response of [
      await ask("/v1/devices", { headers: bearer(token) }),
      await person.ask("/v1/tokens"),
      await person.ask("/v1/account"),
    ])
      expect([response.status, await response.json()]).toMatchObject([503, NEWER]);
  });

  it("is left as it is", async () => {
    const NEWEST: Migration[] = [({ kv }) => kv.put("later", 1), ({ kv }) => kv.put("latest", 2)];
    const [before, after] = await inStorage((storage) => {
      migrate(storage, NEWEST);
      const left = keys(storage);
      const count = countRows(storage);
      expect(() => migrate(storage, NEWEST.slice(0, 1))).toThrow(
        "is of version 2, and this relay knows up to 1",
      );
      return [
        [left, 0],
        [keys(storage), count.rows],
      ];
    });
    expect(after).toEqual(before);
  });
});
