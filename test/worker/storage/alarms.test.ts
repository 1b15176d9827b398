/** The alarm table of an object: several things to do, each at its time, with the platform's one alarm. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { AlarmTable } from "../../../worker/storage/alarms.ts";
import { Person } from "../helpers/relay.ts";
import { countRows } from "../helpers/written-rows.ts";

const HOUR = 60 * 60_000;

interface Ran {
  one: number[];
  two: number[];
}

/** A table of two handlers in a storage of its own. */
function withTable(
  use: (table: AlarmTable<"one" | "two">, storage: DurableObjectStorage, ran: Ran) => Promise<void>,
  next: { one?: (now: number) => number | undefined; two?: (now: number) => number | undefined } = {},
): Promise<void> {
  const scratch = env.ANONYMOUS_RATE_LIMIT.getByName(crypto.randomUUID());
  return runInDurableObject(scratch, async (_, { storage }) => {
    const ran: Ran = { one: [], two: [] };
    const handler = (name: "one" | "two") => (now: number) => {
      ran[name].push(now);
      return next[name]?.(now);
    };
    const table = new AlarmTable<"one" | "two">(storage, { one: handler("one"), two: handler("two") });
    await use(table, storage, ran);
    await storage.deleteAlarm();
  });
}

const rowsOf = ({ kv }: DurableObjectStorage) =>
  kv.get<Record<string, { due: number; failures: number }>>("alarms");

describe("an alarm table", () => {
  it("sets the platform's alarm to the earliest, and runs what is due and no more", () =>
    withTable(async (table, storage, ran) => {
      const now = Date.now();
      table.by("one", now + 2 * HOUR);
      table.by("two", now + HOUR);
      expect(await storage.getAlarm()).toBe(now + HOUR);
      await table.ring(now + HOUR);
      expect(ran).toEqual({ one: [], two: [now + HOUR] });
      expect(await storage.getAlarm()).toBe(now + 2 * HOUR);
      await table.ring(now + 2 * HOUR);
      expect(ran.one).toEqual([now + 2 * HOUR]);
      expect(rowsOf(storage)).toBeUndefined();
    }));

  it("writes when something is due sooner than it was, and otherwise not", () =>
    withTable(async (table, storage) => {
      const now = Date.now();
      const count = countRows(storage);
      table.by("one", now + HOUR);
      table.by("one", now + HOUR);
      table.by("one", now + 2 * HOUR);
      expect(count.rows).toBe(1);
      table.by("one", now + HOUR / 2);
      expect([count.rows, await storage.getAlarm()]).toEqual([2, now + HOUR / 2]);
    }));

  it("runs a handler again when it says, or when it was asked for while it ran", () =>
    withTable(
      async (table, storage, ran) => {
        const now = Date.now();
        table.by("one", now);
        await table.ring(now);
        expect(rowsOf(storage)).toEqual({ one: { due: now + HOUR, failures: 0 } });
        const asking = new AlarmTable<"one">(storage, {
          one: (at) => {
            asking.by("one", at + 1000);
            return at + HOUR;
          },
        });
        await asking.ring(now + HOUR);
        expect(rowsOf(storage)).toEqual({ one: { due: now + HOUR + 1000, failures: 0 } });
        expect(ran.one).toEqual([now]);
      },
      { one: (now) => now + HOUR },
    ));

  it("tries one that fails later and later, and the others have their time", () =>
    withTable(
      async (table, storage, ran) => {
        const begun = Date.now();
        table.by("one", begun);
        table.by("two", begun);
        const waits: number[] = [];
        for (let n = 0, now = begun; n < 12; n++) {
          await table.ring(now);
          const { one, two } = rowsOf(storage) ?? {};
          expect([one?.failures, two?.due]).toEqual([n + 1, now + 1]);
          waits.push((one?.due ?? 0) - now);
          now = one?.due ?? 0;
        }
        expect(waits.slice(0, 4)).toEqual([1000, 2000, 4000, 8000]);
        expect(Math.max(...waits)).toBe(300_000);
        expect(ran.two).toHaveLength(12);
      },
      {
        one: () => {
          throw new Error("broken");
        },
        two: (now) => now + 1,
      },
    ));

  it("drops what another program wrote under a name that is not known here", () =>
    withTable(async (table, storage, ran) => {
      const now = Date.now();
      storage.kv.put("alarms", { later: { due: now, failures: 0 }, constructor: { due: now, failures: 0 } });
      table.by("one", now + HOUR);
      await table.ring(now);
      expect([rowsOf(storage), ran]).toEqual([
        { one: { due: now + HOUR, failures: 0 } },
        { one: [], two: [] },
      ]);
    }));

  it("takes an alarm that rings at its word, whatever the clock says", () =>
    withTable(async (table, _, ran) => {
      const now = Date.now();
      table.by("one", now + 1000);
      await table.ring(now);
      expect(ran.one).toEqual([now]);
    }));

  it("sets the platform's alarm again though writing failed while it rang", () =>
    withTable(async (_, storage) => {
      const now = Date.now();
      let isBroken = false;
      const { kv } = storage;
      const put = (key: string, value: unknown) => {
        if (isBroken) throw new Error("disk full");
        kv.put(key, value);
      };
      const table = new AlarmTable<"one" | "two">(
        {
          kv: {
            get: (key: string) => kv.get(key),
            delete: (key) => kv.delete(key),
            put: put as typeof kv.put,
          },
          getAlarm: () => storage.getAlarm(),
          setAlarm: (at) => storage.setAlarm(at),
        },
        { one: (at) => at + HOUR, two: () => undefined },
      );
      table.by("one", now + HOUR);
      isBroken = true;
      await expect(table.ring(now)).rejects.toThrow("disk full");
      await storage.deleteAlarm();
      isBroken = false;
      table.by("two", now + 2 * HOUR);
      expect(await storage.getAlarm()).toBe(now + HOUR);
    }));

  it("sets the platform's alarm anew when that was given up, and writes nothing when it stands", async () => {
    const now = Date.now();
    await withTable(async (_, storage) => {
      storage.kv.put("alarms", { one: { due: now + HOUR, failures: 0 } });
      const count = countRows(storage);
      const woken = new AlarmTable<"one">(storage, { one: () => undefined });
      await expect.poll(() => storage.getAlarm()).toBe(now + HOUR);
      woken.by("one", now + HOUR);
      expect(count.rows).toBe(0);
    });
  });
});

describe("an account of before there was the table", () => {
  it("pushes what waited in its outbox, and forgets grants that are over", async () => {
    const person = await Person.signIn();
    const { id } = await person.bareDevice();
    const account = env.ACCOUNT.getByName(person.account);
    await person.token({ access: "full" });
    await runInDurableObject(account, async (_, { storage }) => {
      storage.kv.put("schema_version", 1);
      storage.sql.exec("ALTER TABLE devices DROP COLUMN tags");
      storage.sql.exec("ALTER TABLE leases DROP COLUMN version");
      storage.sql.exec("ALTER TABLE leases DROP COLUMN acknowledged");
      storage.kv.delete("alarms");
      await storage.deleteAlarm();
      const news = JSON.stringify({ type: "revoke", grant: "grant_gone" });
      storage.sql.exec(
        "INSERT INTO outbox (device, body, due) VALUES (?, ?, ?)",
        id,
        news,
        Date.now() - HOUR,
      );
      storage.sql.exec("UPDATE grants SET expires = ? WHERE kind = 'api'", Date.now() - HOUR);
    });
    await evictDurableObject(account);
    expect((await person.ask("/v1/devices")).status).toBe(200);
    const left = () =>
      runInDurableObject(account, (_, { storage: { sql } }) => [
        ...sql.exec("SELECT id FROM outbox"),
        ...sql.exec("SELECT id FROM grants WHERE kind = 'api'"),
      ]);
    await runDurableObjectAlarm(account);
    await expect.poll(left).toEqual([]);
  });
});
