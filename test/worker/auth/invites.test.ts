/** The relay's owner invites somebody, who gets an account that shares nothing with the owner's; and closes it again. */
import type { createdInviteSchema, InviteView } from "@matrx/shared/invite-api.ts";
import { decodeJwt, SignJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import type * as z from "zod";
import { Browser } from "../helpers/browser.ts";
import { bearer, claimCode, claimWith, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

type Invite = z.infer<typeof createdInviteSchema>;

let owner: Person;

beforeAll(async () => {
  owner = await Person.signIn("owner");
});

const invite = (name = "Ben"): Promise<Invite> => owner.post("/v1/invites", { name });

const codeOf = ({ link }: Invite): string => link.split("#invite=")[1] ?? "";

const accept = (made: Invite, name = "Ben") =>
  Person.signInBy("/v1/invites/accept", { code: codeOf(made), name });

async function tryAccept(code: string, body: object = {}): Promise<[number, { code: string }]> {
  const key = (await Browser.open()).publicKey;
  const response = await ask("/v1/invites/accept", json({ code, name: "Eve", key, ...body }));
  return [response.status, await response.json()];
}

const listed = async (): Promise<InviteView[]> =>
  (await (await owner.ask("/v1/invites")).json<{ invites: InviteView[] }>()).invites;

const close = (account: string, by = owner) => by.ask(`/v1/accounts/${account}`, { method: "DELETE" });

const whoIs = async (person: Person) => (await person.ask("/v1/account")).json();

describe("an invite", () => {
  it("makes an account of its own for whoever opens its link first", async () => {
    const made = await invite();
    expect(made).toMatchObject({
      name: "Ben",
      account: expect.stringMatching(/^[0-9a-z]{12}$/),
      accepted: null,
      qr_svg: expect.stringContaining("<svg"),
    });
    const ben = await accept(made, "  Ben\u202e ");
    expect(ben.account).toBe(made.account);
    expect(await whoIs(ben)).toMatchObject({
      ...{ account: made.account, kind: "web", person: true },
      ...{ display_name: "Ben", relay_owner: false },
    });
    expect(await (await ben.ask("/v1/devices")).json()).toEqual({ devices: [] });
    expect(await listed()).toContainEqual({
      ...{ id: made.id, name: "Ben", account: made.account, created: made.created, expires: made.expires },
      ...{ accepted: expect.any(String), closed: null },
    });
  });

  it("is valid for seven days, and works once", async () => {
    const made = await invite();
    const { exp = 0, iat = 0 } = decodeJwt(codeOf(made));
    expect(exp - Math.floor(iat)).toBe(7 * 24 * 60 * 60);
    const [first, second] = await Promise.all([tryAccept(codeOf(made)), tryAccept(codeOf(made))]);
    expect([first[0], second[0]].sort()).toEqual([200, 401]);
    expect(await tryAccept(codeOf(made))).toMatchObject([401, { code: "UNAUTHENTICATED" }]);
  });

  it("can be withdrawn until it is accepted", async () => {
    const withdraw = (id: string) => owner.ask(`/v1/invites/${id}`, { method: "DELETE" });
    const made = await invite();
    expect((await withdraw(made.id)).status).toBe(204);
    expect(await tryAccept(codeOf(made))).toMatchObject([401, { code: "UNAUTHENTICATED" }]);
    expect((await withdraw(made.id)).status).toBe(404);

    const taken = await invite();
    await accept(taken);
    expect([(await withdraw(taken.id)).status, (await listed()).some(({ id }) => id === taken.id)]).toEqual([
      409,
      true,
    ]);
  });

  it("is the owner's alone to make, see and withdraw", async () => {
    const made = await invite();
    const ben = await accept(await invite());
    const { token } = await owner.token({ access: "full" });
    const asked = [
      ben.ask("/v1/invites", json({ name: "Eve" })),
      ben.ask("/v1/invites"),
      ben.ask(`/v1/invites/${made.id}`, { method: "DELETE" }),
      ben.ask(`/v1/invites/invite_never`, { method: "DELETE" }),
      ask("/v1/invites", json({ name: "Eve" }, bearer(token))),
      ask("/v1/invites", { headers: bearer(token) }),
    ];
    for (const response of await Promise.all(asked))
      expect([response.status, await response.json()]).toMatchObject([403, { code: "PERMISSION_DENIED" }]);
    expect(await listed()).toContainEqual(expect.objectContaining({ id: made.id, accepted: null }));
  });

  it("is not to be had by any other code", async () => {
    const made = await invite();
    const { iat = 0, exp = 0, jti = "" } = decodeJwt(codeOf(made));
    const forged = (claims: { aud: string; sub: string; jti: string }, secret: string) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "HS256" })
        .setIssuedAt(iat)
        .setExpirationTime(exp)
        .sign(new TextEncoder().encode(secret));
    const own = { aud: "matrx:invite", sub: made.account, jti };
    const { link } = await owner.post<{ link: string }>("/v1/sign-in-links", {});
    for (const code of [
      "",
      "x",
      `${codeOf(made).slice(0, -2)}xx`,
      await forged(own, "another secret of more than 32 bytes"),
      await claimCode(made.account),
      link.split("#claim=")[1] ?? "",
      owner.accessToken,
    ])
      expect([code.slice(0, 12), (await tryAccept(code))[0]]).toEqual([code.slice(0, 12), 401]);
    // Nor does it sign in to an account that exists.
    expect((await ask("/v1/claim", json(await claimWith(codeOf(made))))).status).toBe(401);
    expect(await listed()).toContainEqual(expect.objectContaining({ id: made.id, accepted: null }));
  });

  it("takes a name that others can read", async () => {
    const code = codeOf(await invite());
    expect((await tryAccept(code, { name: "\u202e \u200b" }))[0]).toBe(400);
    expect((await tryAccept(code, { name: "x".repeat(65) }))[0]).toBe(400);
    expect((await tryAccept(code, { owner: true }))[0]).toBe(400);
    expect((await tryAccept(code))[0]).toBe(200);
  });

  it("is not for pages of other origins, whatever they hold", async () => {
    const foreign = { Origin: "https://evil.example" };
    const code = codeOf(await invite());
    const key = (await Browser.open()).publicKey;
    for (const [path, init] of [
      ["/v1/invites/accept", json({ code, name: "Eve", key }, foreign)],
      ["/v1/invites", json({ name: "Eve" }, { ...bearer(owner.accessToken), ...foreign })],
    ] as const) {
      const response = await ask(path, init);
      expect([response.status, response.headers.get("Access-Control-Allow-Origin")]).toEqual([403, null]);
    }
  });
});

describe("an account", () => {
  it("is called what its person says", async () => {
    const ben = await accept(await invite());
    const rename = (display_name: string) =>
      ben.ask("/v1/account", { ...json({ display_name }), method: "PATCH" });
    expect((await rename("Benjamin")).status).toBe(204);
    expect(await whoIs(ben)).toMatchObject({ display_name: "Benjamin" });
    expect((await rename("")).status).toBe(400);
    expect(await whoIs(owner)).toMatchObject({ relay_owner: true });
  });

  it("that the owner closes is over at once, on every door", async () => {
    const made = await invite();
    const ben = await accept(made);
    const device = await ben.bareDevice();
    const script = await ben.token({ access: "full" });
    const another =
      (await ben.post<{ link: string }>("/v1/sign-in-links", {})).link.split("#claim=")[1] ?? "";
    const response = await ben.ask("/v1/account/ws", { headers: { Upgrade: "websocket" } });
    const link = response.webSocket as WebSocket;
    link.accept();
    const closing = new Promise<number>((resolve) =>
      link.addEventListener("close", ({ code }) => resolve(code), { once: true }),
    );

    expect((await close(made.account)).status).toBe(204);
    expect(await closing).toBe(4403);
    expect(await listed()).toContainEqual(
      expect.objectContaining({ account: made.account, closed: expect.any(String) }),
    );
    expect((await ben.ask("/v1/account")).status).toBe(401);
    expect((await ben.renew()).status).toBe(401);
    expect((await ask(`/v1/devices/${device.id}`, { headers: bearer(script.token) })).status).toBe(401);
    for (const code of [another, await claimCode(made.account)]) {
      const refused = await ask("/v1/claim", json(await claimWith(code)));
      expect([refused.status, await refused.json()]).toMatchObject([
        403,
        { code: "PERMISSION_DENIED", detail: expect.stringContaining("closed") },
      ]);
    }
    expect((await tryAccept(codeOf(made)))[0]).toBe(401);
  });

  it("is closed by the owner alone, and only if it came by an invite", async () => {
    const made = await invite();
    const ben = await accept(made);
    const eve = await accept(await invite("Eve"), "Eve");
    const waiting = await invite("Carol");
    expect((await close(made.account, eve)).status).toBe(403);
    expect((await close("owner", eve)).status).toBe(403);
    for (const account of ["owner", "nobody", waiting.account, encodeURIComponent("../owner")])
      expect([account, (await close(account)).status]).toEqual([account, 404]);
    expect([(await ben.ask("/v1/account")).status, (await owner.ask("/v1/account")).status]).toEqual([
      200, 200,
    ]);
    // Twice is once.
    expect([(await close(made.account)).status, (await close(made.account)).status]).toEqual([204, 204]);
  });
});
