/** `OIDC_ISSUERS`, as an owner writes it, rightly and wrongly. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { emailKey, IssuersFault, parseIssuers } from "@matrx/shared/oidc-issuers.ts";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/tree.ts";

const GOOD = {
  id: "home",
  name: "Our home",
  issuer: "https://id.example/realms/family",
  client_id: "matrx",
  accounts: { "ann@example.org": "owner" },
};

const read = (...entries: unknown[]) => parseIssuers(JSON.stringify(entries));

/** What is said to be wrong with an entry like the good one. */
function faultOf(change: object): string {
  try {
    read({ ...GOOD, ...change });
  } catch (fault) {
    if (fault instanceof IssuersFault) return fault.message;
    throw fault;
  }
  return "nothing";
}

test("the guide's examples are read", () => {
  const guide = readFileSync(join(ROOT, "docs/guides/sign-in.md"), "utf8");
  const examples = [...guide.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = ""]) => parseIssuers(text));
  expect(examples.length).toBeGreaterThan(0);
  for (const issuers of examples) expect(issuers.length).toBeGreaterThan(0);
});

test("an entry needs no more than an id, a name, an address, a client and its accounts", () => {
  expect(read(GOOD)).toEqual([
    {
      ...GOOD,
      scopes: "openid email profile",
      local: false,
      accounts: new Map([["ann@example.org", "owner"]]),
    },
  ]);
  expect(read()).toEqual([]);
  expect(read({ ...GOOD, accounts: "open" })[0]?.accounts).toBe("open");
});

test("addresses are compared in lower case, but a sub and letters beyond ASCII as they are", () => {
  const [issuer] = read({ ...GOOD, accounts: { "Ann@Example.ORG": "ann", SubOfBen: "ben" } });
  expect(issuer?.accounts).toEqual(
    new Map([
      ["ann@example.org", "ann"],
      ["SubOfBen", "ben"],
    ]),
  );
  expect(emailKey("KIM@x.test")).toBe("kim@x.test");
  expect(emailKey("\u212aim@x.test")).toBe("\u212aim@x.test");
});

test.each([
  [{ issuer: "http://id.example" }, /^0\.issuer: must be an https address/],
  [{ issuer: "https://id.example/?tenant=1" }, /^0\.issuer/],
  [{ issuer: "https://me:pass@id.example" }, /^0\.issuer/],
  [{ issuer: "javascript:alert(1)" }, /^0\.issuer/],
  [{ id: "../claim" }, /^0\.id: must be a short name/],
  [{ id: "Home" }, /^0\.id/],
  [{ name: "\u202e" }, /^0\.name: must have at least 1 character/],
  [{ scopes: "email" }, /^0\.scopes: must contain openid/],
  [{ client_id: undefined }, /^0\.client_id: is missing/],
  [{ client_secrets: "x" }, /^0\.client_secrets: is unknown/],
  [{ accounts: undefined }, /^0\.accounts: must be “open”, or an object/],
  [{ accounts: "all" }, /^0\.accounts: must be “open”, or an object/],
  [{ accounts: { "ann@x.test": "Ann!" } }, /^0\.accounts: .*must be an account's id/],
  [{ accounts: { "ann@x.test": "a", "ANN@x.test": "b" } }, /^0\.accounts: ANN@x\.test is listed twice/],
  [{ accounts: { "\u212aim@x.test": "kim" } }, /^0\.accounts: .*in ASCII/],
])("%o is refused, and the fault is named", (change, fault) => {
  expect(faultOf(change)).toMatch(fault);
});

test("an issuer on this machine needs no TLS", () => {
  expect(faultOf({ issuer: "http://127.0.0.1:9000" })).toBe("nothing");
  expect(faultOf({ issuer: "http://localhost:9000/id" })).toBe("nothing");
});

test("two entries cannot share an id", () => {
  expect(() => read(GOOD, GOOD)).toThrow("has an id twice");
});

test("a text that cannot be read is not quoted, since it holds secrets", () => {
  for (const text of ['[{"client_secret":"hunter2"', "hunter2", '"hunter2"', '{"client_secret":"hunter2"}'])
    expect(() => parseIssuers(text)).toThrow(expect.not.stringContaining("hunter2"));
});
