/** Pairing a device: what the owner compares. */
import { hexOf } from "@matrx/shared/ids.ts";
import { expect, it } from "vitest";
import { ask, json, Person } from "./helpers/relay.ts";

it("shows the fingerprint that the device shows: SHA-256 of the key's bytes, not of its spelling", async () => {
  const key = crypto.getRandomValues(new Uint8Array(32));
  const public_key = btoa(String.fromCharCode(...key))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace("=", "");
  const wish = { name: "home", hostname: "home", os: "Linux", os_version: "6.1", public_key };
  const { code } = await (await ask("/v1/pairings", json(wish))).json<{ code: string }>();

  const person = await Person.signIn();
  const view = await (await person.ask(`/v1/pairings/${code}`)).json();

  const digest = hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", key)));
  const fingerprint = (digest.slice(0, 32).match(/.{4}/g) ?? []).join(" ");
  expect(view).toMatchObject({ kind: "device", name: "home", fingerprint });
});
