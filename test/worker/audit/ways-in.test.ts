/** The record tells of what opens an account to whom, and of stopping everything. */
import { expect, it } from "vitest";
import { Authenticator } from "../helpers/authenticator.ts";
import { home } from "../helpers/home.ts";
import { addPasskey, signInWith } from "../helpers/passkeys.ts";
import { recordWith } from "../helpers/record.ts";
import { json, Person } from "../helpers/relay.ts";

it("passkeys, recovery codes, sign-ins by them, and pauses, by whom", async () => {
  const person = await Person.signIn();
  const { authenticator, view } = await addPasskey(person, await Authenticator.open());
  expect((await signInWith(authenticator)).status).toBe(200);
  const renamed = { ...json({ name: "Phone" }), method: "PATCH" };
  expect((await person.ask(`/v1/passkeys/${view.id}`, renamed)).status).toBe(200);
  expect((await person.ask(`/v1/passkeys/${view.id}`, { method: "DELETE" })).status).toBe(204);
  const { codes } = await person.post<{ codes: string[] }>("/v1/recovery-codes", {});
  await person.post("/v1/pause", { paused: true });
  await person.post("/v1/pause", { paused: false });
  const entries = await recordWith(person, 8);
  const [signedIn] = entries;
  expect(entries).toMatchObject([
    { type: "session", action: "signed_in", how: "link" },
    { type: "passkey", action: "added", name: view.name },
    { type: "session", action: "signed_in", how: "passkey" },
    { type: "passkey", action: "renamed", name: "Phone" },
    { type: "passkey", action: "removed", name: "Phone" },
    { type: "recovery_codes" },
    { type: "pause", paused: true },
    { type: "pause", paused: false },
  ]);
  for (const entry of entries.filter(({ type }) => type !== "session"))
    expect(entry.by).toEqual(signedIn?.by);
  expect(codes.length).toBeGreaterThan(0);
  for (const code of codes) expect(JSON.stringify(entries)).not.toContain(code.split(".").at(-1));
});

it("shares, from the link to whoever accepted it and back", async () => {
  const { person, identity } = await home();
  const ben = await Person.signIn();
  const wish = { name: "for Ben", devices: [identity.id], paths: ["/srv"], effects: ["read"] };
  const share = await person.post<{ id: string; link: string }>("/v1/shares", wish);
  const accept = () => ben.post("/v1/shares/accept", { code: share.link.split("#share=")[1] });
  await accept();
  await accept();
  await person.ask(`/v1/tokens/${share.id}`, { method: "DELETE" });
  const told = { credential: "guest", name: "for Ben", grant: share.id };
  const owner = { by: { credential: "person" } };
  const entries = await recordWith(person, 3, { type: "grant", grant: share.id });
  expect(entries).toMatchObject([
    { ...told, ...owner, action: "created", may: { paths: ["/srv"], effects: ["read"] } },
    { ...told, action: "changed", may: { guest: { account: ben.account } } },
    { ...told, ...owner, action: "revoked" },
  ]);
  expect(entries[1]).not.toHaveProperty("by");
});

it("invites, and the accounts that came by them", async () => {
  const owner = await Person.signIn("owner");
  const invite = (name: string) =>
    owner.post<{ id: string; account: string; link: string }>("/v1/invites", { name });
  const [ben, eve] = [await invite("Ben"), await invite("Eve")];
  await Person.signInBy("/v1/invites/accept", { code: ben.link.split("#invite=")[1], name: "Ben" });
  await owner.ask(`/v1/invites/${eve.id}`, { method: "DELETE" });
  for (let n = 0; n < 2; n++) await owner.ask(`/v1/accounts/${ben.account}`, { method: "DELETE" });
  const entries = await recordWith(owner, 5, { type: "invite" });
  expect(entries).toMatchObject([
    { action: "created", name: "Ben", account: ben.account, by: { credential: "person" } },
    { action: "created", name: "Eve", account: eve.account },
    { action: "accepted", name: "Ben", account: ben.account },
    { action: "withdrawn", name: "Eve", account: eve.account },
    { action: "closed", name: "Ben", account: ben.account, by: { credential: "person" } },
  ]);
  expect(entries).toHaveLength(5);
});
