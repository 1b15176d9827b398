/** The record tells of what opens an account, and of stopping everything. */
import { expect, it } from "vitest";
import { Authenticator } from "../helpers/authenticator.ts";
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
  await person.post("/v1/recovery-codes", {});
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
  expect(JSON.stringify(entries)).not.toMatch(/[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}/);
});
