/** A person signs out everywhere else: every other session ends at once, and nothing besides. */
import { env } from "cloudflare:workers";
import type { TokenView } from "@matrx/shared/token-api.ts";
import { expect, it } from "vitest";
import { TestCaller } from "../helpers/caller.ts";
import { addPasskey, signInWith } from "../helpers/passkeys.ts";
import { bearer, claimWith, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

it("ends other browsers and command lines, their sockets too; tokens and passkeys stay", async () => {
  const [person, stolen] = [await Person.signIn("elsewhere"), await Person.signIn("elsewhere")];
  const { grant } = await (await person.ask("/v1/account")).json<{ grant: string }>();
  const cli = await env.ACCOUNT.getByName("elsewhere").createLogin(grant as never, "laptop");
  expect(cli.ok).toBe(true);
  const { token } = await person.token({ access: "read" });
  const { authenticator } = await addPasskey(person);
  const device = await person.bareDevice();
  const socket = await TestCaller.connect(device.id, stolen.accessToken);

  expect(await person.post("/v1/sessions/revoke-others", {})).toEqual({ revoked: 2 });
  expect(await socket.closed).toMatchObject({ code: 4403 });
  expect((await ask("/v1/account", { headers: bearer(stolen.accessToken) })).status).toBe(401);
  expect((await stolen.renew()).status).toBe(401);
  const { tokens } = await (await person.ask("/v1/tokens")).json<{ tokens: TokenView[] }>();
  expect(tokens.map(({ kind }) => kind).sort()).toEqual(["api", "web"]);
  expect((await person.renew()).status).toBe(200);
  expect((await ask("/v1/account", { headers: bearer(token) })).status).toBe(200);
  expect((await signInWith(authenticator)).status).toBe(200);
  expect(await person.post("/v1/sessions/revoke-others", {})).toEqual({ revoked: 1 });
});

it("ends sign-in links made before, so that a thief's link leads nowhere; later ones work", async () => {
  const [person, thief] = [await Person.signIn("linked"), await Person.signIn("linked")];
  const linkOf = async (from: Person) => {
    const { link } = await from.post<{ link: string }>("/v1/sign-in-links", {});
    return link.replace(/^.*#claim=/, "");
  };
  const left = await linkOf(thief);
  await person.post("/v1/sessions/revoke-others", {});
  const refused = await ask("/v1/claim", json(await claimWith(left)));
  expect([refused.status, await refused.json()]).toMatchObject([401, { code: "UNAUTHENTICATED" }]);
  expect((await ask("/v1/claim", json(await claimWith(await linkOf(person))))).status).toBe(200);
});
