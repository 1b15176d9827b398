/** The record's routes: what they show, to whom, and in what form. */
import { env } from "cloudflare:workers";
import type { AuditDraft, AuditEntry, auditPageSchema } from "@matrx/shared/audit.ts";
import { createLocalJWKSet, jwtVerify } from "jose";
import { describe, expect, it } from "vitest";
import type * as z from "zod";
import { home } from "../helpers/home.ts";
import { headOf, recordOf, recordWith } from "../helpers/record.ts";
import { bearer, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

type Page = z.infer<typeof auditPageSchema>;

function draft(n: number, facts: Partial<AuditDraft> = {}): AuditDraft {
  const at = "2026-02-12T10:30:00.000Z";
  const call = {
    type: "call",
    id: `call-${n}`,
    at,
    call: `${n}`,
    effect: "read",
    status: "success",
  } as const;
  return { ...call, ...facts } as AuditDraft;
}

async function pageOf(person: Person, query: string): Promise<Page> {
  const response = await person.ask(`/v1/audit?${query}`);
  expect(response.status).toBe(200);
  return response.json();
}

const seqs = ({ entries }: Page) => entries.map(({ seq }) => seq);

describe("what an account did", () => {
  it("is told with who did it: sessions, tokens, devices, policies", async () => {
    const { person, identity } = await home();
    const { id } = await person.grant({ name: "helper", paths: ["/srv"], effects: ["read"] });
    await person.change(id, { name: "helper 2" });
    await person.rename(identity.id, "den");
    await person.tag(identity.id, ["home"]);
    await person.setPolicy(identity.id, { allowed_tools: ["Read"] });
    await person.ask(`/v1/tokens/${id}`, { method: "DELETE" });
    await person.ask(`/v1/devices/${identity.id}`, { method: "DELETE" });
    const entries = await recordWith(person, 10);
    const [signedIn] = entries;
    expect(signedIn).toMatchObject({ type: "session", action: "signed_in", how: "link", seq: 1 });
    const by = { credential: "person", grant: signedIn?.by?.grant };
    for (const entry of entries) expect(entry.by).toMatchObject(by);
    const told = entries.map((entry) => `${entry.type} ${"action" in entry ? entry.action : ""}`.trim());
    expect(told.filter((one) => one !== "policy")).toEqual([
      ...["session signed_in", "device added", "grant created", "grant created", "grant changed"],
      ...["device renamed", "device tagged", "grant revoked", "device removed"],
    ]);
    expect(entries.find(({ type }) => type === "policy")).toMatchObject({
      device: identity.id,
      policy: { allowed_tools: ["Read"] },
    });
    expect(entries.find((entry) => entry.type === "grant" && entry.action === "changed")).toMatchObject({
      ...{ grant: id, name: "helper 2", credential: "ai" },
      may: { paths: ["/srv"], effects: ["read"], owner: false },
    });
    expect(JSON.stringify(entries)).not.toContain(person.accessToken);
  });

  it("is told of signing out, by whomever", async () => {
    const person = await Person.signIn();
    const other = await Person.signIn(person.account);
    const [, second] = await recordWith(person, 2);
    await person.ask(`/v1/tokens/${second?.by?.grant}`, { method: "DELETE" });
    expect((await other.ask("/v1/account")).status).toBe(401);
    const [, , ended] = await recordWith(person, 3);
    expect(ended).toMatchObject({ type: "session", action: "signed_out", grant: second?.by?.grant });
    expect(ended?.by?.grant).not.toBe(second?.by?.grant);
  });
});

const [DEN, LAB] = ["den-4k7m2x9qpa", "lab-4k7m2x9qpa"];

describe("pages", () => {
  it("go from either end, and their filters combine", async () => {
    const person = await Person.signIn();
    const by = { grant: "grant_a" };
    await env.AUDIT.getByName(person.account).append([
      ...[draft(1, { device: DEN, by }), draft(2, { device: LAB, by }), draft(3, { device: DEN })],
      {
        type: "grant",
        id: "g",
        at: "2026-02-12T10:30:00.000Z",
        action: "revoked",
        grant: "grant_a",
        name: "a",
        credential: "ai",
      },
    ]);
    const newest = await pageOf(person, "limit=2");
    expect(seqs(newest)).toEqual([5, 4]);
    expect(seqs(await pageOf(person, `limit=2&before=${newest.next}`))).toEqual([3, 2]);
    const oldest = await pageOf(person, "limit=3&after=0");
    expect(seqs(oldest)).toEqual([1, 2, 3]);
    expect(await pageOf(person, `after=${oldest.next}`)).toMatchObject({ next: null });
    expect(seqs(await pageOf(person, `after=0&device=${DEN}`))).toEqual([2, 4]);
    expect(seqs(await pageOf(person, "after=0&grant=grant_a"))).toEqual([2, 3, 5]);
    expect(seqs(await pageOf(person, `after=0&grant=grant_a&type=call&device=${LAB}`))).toEqual([3]);
    expect(seqs(await pageOf(person, "device=nobody-0000000000"))).toEqual([]);
  });

  it.each([
    "device=%2A",
    "grant=null",
    "limit=0",
    "limit=501",
    "after=-1",
    "after=x",
    "type=secrets",
    "type='%20OR%201=1",
  ])("refuse %s", async (query) => {
    const person = await Person.signIn();
    const response = await person.ask(`/v1/audit?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "INVALID_PARAMETERS" });
  });

  it("are their account's own, and for a person only", async () => {
    const { person, token } = await home();
    const stranger = await Person.signIn();
    const theirs = await recordOf(stranger);
    expect(theirs.map(({ type }) => type)).toEqual(["session"]);
    const { seq, account } = await headOf(stranger);
    expect([seq, account]).toEqual([1, stranger.account]);
    for (const path of ["/v1/audit", "/v1/audit/head", "/v1/audit/export"]) {
      expect((await ask(path)).status).toBe(401);
      expect((await ask(path, { headers: bearer(token) })).status).toBe(403);
    }
    expect((await recordOf(person)).length).toBeGreaterThan(1);
  });
});

describe("the head", () => {
  it("is signed with a key that the relay publishes, for this purpose only", async () => {
    const person = await Person.signIn();
    const { signed, ...head } = await headOf(person);
    const keys = createLocalJWKSet(await (await ask("/.well-known/jwks.json")).json());
    const { payload } = await jwtVerify(signed, keys, {
      audience: "matrx:audit-head",
      issuer: "matrx-relay",
    });
    const { sub: account, seq, hash, at } = payload;
    expect({ account, seq, hash, at }).toEqual(head);
    expect((await ask("/v1/account", { headers: bearer(signed) })).status).toBe(401);
  });
});

describe("an export", () => {
  it("is one entry for each line, all of them and in order, also over several pages", async () => {
    const person = await Person.signIn();
    await env.AUDIT.getByName(person.account).append(Array.from({ length: 1203 }, (_, n) => draft(n)));
    const entries = await recordOf(person);
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 1204 }, (_, n) => n + 1));
  });

  it("as CSV never gives a spreadsheet a formula", async () => {
    const person = await Person.signIn();
    const evil = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", ' "=1', "＝1", 'x","=1'];
    await env.AUDIT.getByName(person.account).append(
      evil.map((tool, n) => draft(n, { tool, preview: tool } as Partial<AuditEntry>)),
    );
    const response = await person.ask("/v1/audit/export?format=csv&type=call");
    expect(response.headers.get("Content-Type")).toContain("text/csv");
    expect(response.headers.get("Content-Disposition")).toContain("matrx-record.csv");
    const text = new TextDecoder().decode(await response.arrayBuffer());
    const cells = cellsOf(text);
    for (const cell of cells)
      if (!/^-?[\d.]+$/.test(cell)) expect(cell).not.toMatch(/^[\s\p{Cc}]*[=+\-@＝]/u);
    for (const tool of evil) expect(cells.some((cell) => cell === tool || cell === `'${tool}`)).toBe(true);
  });
});

/** The cells of a CSV file, as RFC 4180 reads them. */
function cellsOf(text: string): string[] {
  const cells = text.matchAll(/(?:^|,|\r\n)(?:"((?:[^"]|"")*)"|([^",\r\n]*))/g);
  return [...cells].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "");
}
