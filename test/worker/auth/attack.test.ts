/** Attacks on the relay's doors: forged, old, foreign and replayed credentials, and rights that are not there. */
import { env } from "cloudflare:workers";
import { generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import worker from "../../../worker/index.ts";
import { TestCaller } from "../helpers/caller.ts";
import { AgentDevice, type AgentIdentity, BareDevice, pairAgent, registerFrame } from "../helpers/device.ts";
import { bearer, claimCode, claimWith, json, Person } from "../helpers/relay.ts";
import { ask, ORIGIN } from "../helpers/request.ts";

let owner: Person;
let home: AgentIdentity;
let full: { token: string; id: string };
let read: { token: string; id: string };

beforeAll(async () => {
  owner = await Person.signIn();
  home = await pairAgent(owner);
  full = await owner.token({ access: "full" });
  read = await owner.token({ access: "read" });
});

describe("a token", () => {
  async function refused(token: string, path = `/v1/devices/${home.id}`): Promise<Record<string, unknown>> {
    const response = await ask(path, { headers: bearer(token) });
    expect(response.status).toBe(401);
    expect(response.headers.get("WWW-Authenticate")).toContain("Bearer");
    const problem = await response.json<Record<string, unknown>>();
    expect(problem).toMatchObject({ code: "UNAUTHENTICATED", hint: expect.any(String), hop: "relay" });
    return problem;
  }

  function parts(token: string): Record<string, unknown> {
    return JSON.parse(atob((token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")));
  }

  it("says nothing but account, grant, audience, times and a name of its own", () => {
    expect(Object.keys(parts(full.token)).sort()).toEqual(["aud", "exp", "gid", "iat", "iss", "jti", "sub"]);
  });

  it("that is missing, cut, or of another scheme is refused", async () => {
    expect((await ask("/v1/devices")).status).toBe(401);
    await refused("x.y.z");
    await refused(full.token.slice(0, -4));
    expect((await ask("/v1/devices", { headers: { Authorization: "Basic eA==" } })).status).toBe(401);
  });

  it("with alg none, or signed by another key or algorithm, is refused", async () => {
    const claims = parts(full.token);
    await refused(new UnsecuredJWT(claims).encode());
    const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519" });
    await refused(
      await new SignJWT(claims).setProtectedHeader({ alg: "EdDSA", kid: "test" }).sign(privateKey),
    );
    const publicKey = JSON.stringify(await (await ask("/.well-known/jwks.json")).json());
    await refused(
      await new SignJWT(claims)
        .setProtectedHeader({ alg: "HS256", kid: "test" })
        .sign(new TextEncoder().encode(publicKey)),
    );
  });

  it("of another audience is refused: cookie as bearer, device token as caller's, and the other way round", async () => {
    await refused(owner.cookie.split("=")[1] ?? "");
    const bare = await owner.bareDevice();
    await refused(bare.token);
    expect(
      (await ask("/v1/devices", { headers: { Cookie: owner.cookie.replace(/=.*/, `=${full.token}`) } }))
        .status,
    ).toBe(401);
    const device = await BareDevice.connect(bare.id);
    device.send({ type: "device_register", device_id: bare.id, auth_token: `Bearer ${full.token}` });
    expect(await device.expect("error")).toMatchObject({ error_code: "UNAUTHENTICATED" });
    expect((await device.closed).code).toBe(4401);
  });

  it("that has expired is refused", async () => {
    const keys = JSON.parse(env.RELAY_KEYS ?? "") as { keys: [JsonWebKey & { kid: string }] };
    const { importJWK } = await import("jose");
    const key = await importJWK(keys.keys[0] as never, "EdDSA");
    const old = await new SignJWT({ ...parts(full.token), exp: 1_700_000_000 })
      .setProtectedHeader({ alg: "EdDSA", kid: keys.keys[0].kid })
      .sign(key);
    expect(await refused(old)).toMatchObject({ detail: "The token has expired" });
  });

  it("of another account finds no device, by REST or socket, and cannot tell that there is one", async () => {
    const stranger = await Person.signIn();
    const { token } = await stranger.token({ access: "full" });
    const there = await ask(`/v1/devices/${home.id}`, { headers: bearer(token) });
    const nowhere = await ask(`/v1/devices/home-0000000000`, { headers: bearer(token) });
    expect([there.status, nowhere.status]).toEqual([404, 404]);
    const [one, other] = [await there.text(), await nowhere.text()];
    expect(one.replaceAll(home.id, "ID")).toBe(other.replaceAll("home-0000000000", "ID"));
    await expect(TestCaller.connect(home.id, token)).rejects.toThrow("404");
    for (const path of [`tools/SystemInfo`, `calls/01939b3e-0000-7000-8000-000000000000/cancel`]) {
      expect((await ask(`/v1/devices/${home.id}/${path}`, json({}, bearer(token)))).status).toBe(404);
    }
    expect((await stranger.ask(`/v1/devices/${home.id}`, { method: "DELETE" })).status).toBe(404);
    expect((await stranger.setPolicy(home.id, {})).status).toBe(404);
    expect((await stranger.rename(home.id, "mine")).status).toBe(404);
  });

  it("cannot be made, listed or revoked with an API token", async () => {
    for (const [method, path] of [
      ["GET", "/v1/tokens"],
      ["POST", "/v1/tokens"],
      ["DELETE", `/v1/tokens/${read.id}`],
      ["PUT", `/v1/devices/${home.id}/policy`],
      ["PATCH", `/v1/devices/${home.id}`],
      ["DELETE", `/v1/devices/${home.id}`],
      ["POST", "/v1/devices"],
    ] as const) {
      const body = method === "GET" ? {} : { body: JSON.stringify({ name: "x", access: "full" }) };
      const response = await ask(path, { method, ...body, headers: bearer(full.token) });
      expect([path, response.status]).toEqual([
        path,
        path.endsWith("policy") || path === "/v1/devices" || method !== "POST" ? response.status : 403,
      ]);
      expect([400, 403]).toContain(response.status);
    }
  });
});

/** Another token of the same grant. */
async function laterTokenOf(token: string): Promise<string> {
  const keys = JSON.parse(env.RELAY_KEYS ?? "") as { keys: [JsonWebKey & { kid: string }] };
  const { importJWK, decodeJwt } = await import("jose");
  const key = await importJWK(keys.keys[0] as never, "EdDSA");
  return new SignJWT({ ...decodeJwt(token), jti: crypto.randomUUID() })
    .setProtectedHeader({ alg: "EdDSA", kid: keys.keys[0].kid })
    .sign(key);
}

describe("a relay without its secrets", () => {
  it.each([["RELAY_KEYS"], ["CLAIM_SECRET"]])(
    "answers 503 without %s, and cannot be claimed",
    async (name) => {
      const bare = { ...env, [name]: undefined };
      const code = await claimCode("owner");
      const claim = json(await claimWith(code));
      for (const response of [
        await worker.request("/v1/health", {}, bare),
        await worker.request("/v1/claim", claim, bare),
      ]) {
        expect(response.status).toBe(503);
        expect(await response.json()).toMatchObject({
          code: "UNAVAILABLE",
          hint: expect.stringContaining("npm start"),
        });
      }
    },
  );

  it("takes no keys that are none", async () => {
    const response = await worker.request(
      "/v1/health",
      {},
      { ...env, RELAY_KEYS: '{"keys":[{"kty":"oct"}]}' },
    );
    expect(response.status).toBe(503);
  });
});

describe("a grant", () => {
  it("that only reads may not write or run, at the relay already", async () => {
    const device = await AgentDevice.come(home);
    const caller = await TestCaller.connect(home.id, read.token);
    for (const tool of ["Bash", "Write", "local_bash"]) {
      expect(await caller.call(tool, { command: "id" })).toMatchObject({
        code: "PERMISSION_DENIED",
        hop: "relay",
      });
    }
    const answering = caller.call("Read", { file_path: "/a" });
    expect((await device.serve("x")).grant).toMatchObject({ owner: false, effects: ["read"] });
    expect(await answering).toMatchObject({ type: "success" });
  });

  it("for one device does not open another", async () => {
    const other = await pairAgent(owner, "other");
    const { token } = await owner.token({ access: "full", devices: [other.id] });
    expect((await ask(`/v1/devices/${home.id}`, { headers: bearer(token) })).status).toBe(403);
    const { devices } = await (await ask("/v1/devices", { headers: bearer(token) })).json<{
      devices: { id: string }[];
    }>();
    expect(devices.map(({ id }) => id)).toEqual([other.id]);
  });

  it("with folders may not use the shell of an agent that is too old to keep secrets closed", async () => {
    await AgentDevice.come(home, { protocol: 1 });
    const { token } = await owner.grant({ paths: ["/srv"], ask: [] });
    const caller = await TestCaller.connect(home.id, token);
    expect(await caller.call("Bash", { command: "id" })).toMatchObject({ code: "PERMISSION_DENIED" });
  });

  it("is held to the owner's limits for the device, which go to the agent with each call", async () => {
    const device = await AgentDevice.come(home);
    await owner.setPolicy(home.id, { allowed_tools: ["Read"], allowed_paths: ["/srv"] });
    const caller = await TestCaller.connect(home.id, full.token);
    expect(await caller.call("Write", {})).toMatchObject({ code: "PERMISSION_DENIED" });
    const answering = caller.call("Read", { file_path: "/srv/a" });
    expect((await device.serve("x")).policy).toEqual({
      allowed_tools: ["Read"],
      allowed_paths: ["/srv"],
    });
    await answering;
    await owner.setPolicy(home.id, {});
    const free = caller.call("Read", { file_path: "/a" });
    expect((await device.serve("x")).policy).toBeUndefined();
    await free;
  });

  it("that is revoked closes its sockets, stops its calls, and is worth nothing at once", async () => {
    const device = await AgentDevice.come(home);
    const { token, id } = await owner.token({ access: "full" });
    const caller = await TestCaller.connect(home.id, token);
    caller.send({ id: "1", tool: "Bash", input: {} });
    const execute = await device.expect("tool_execute");
    expect((await owner.ask(`/v1/tokens/${id}`, { method: "DELETE" })).status).toBe(204);
    expect((await caller.closed).code).toBe(4403);
    expect(await device.expect("tool_cancel")).toMatchObject({ tool_call_id: execute.tool_call_id });
    expect(await device.expect("session_end")).toMatchObject({ grant: id });
    expect((await ask(`/v1/devices/${home.id}`, { headers: bearer(token) })).status).toBe(401);
    expect((await ask("/v1/account", { headers: bearer(token) })).status).toBe(401);
    await expect(TestCaller.connect(home.id, token)).rejects.toThrow("401");
  });

  it("does not read another grant's calls; the owner's does", async () => {
    const device = await AgentDevice.come(home);
    const guest = await owner.token({ access: "full", paths: ["/srv"] });
    const answering = ask(`/v1/devices/${home.id}/tools/Write`, json({}, bearer(full.token)));
    const { tool_call_id: call } = await device.serve("written");
    await answering;
    expect((await ask(`/v1/devices/${home.id}/calls/${call}`, { headers: bearer(guest.token) })).status).toBe(
      404,
    );
    const other = await owner.token({ access: "full" });
    expect((await ask(`/v1/devices/${home.id}/calls/${call}`, { headers: bearer(other.token) })).status).toBe(
      200,
    );
  });
});

describe("the device link", () => {
  it("knows no device that the relay did not name, and stores nothing for it", async () => {
    expect((await ask("/v1/device/ws", { headers: { Upgrade: "websocket" } })).status).toBe(400);
    const response = await ask("/ws?device=home-zzzzzzzzzz", { headers: { Upgrade: "websocket" } });
    expect(response.status).toBe(404);
    const { listDurableObjectIds } = await import("cloudflare:test");
    const made = (await listDurableObjectIds(env.DEVICE)).map(String);
    expect(made).not.toContain(env.DEVICE.idFromName("home-zzzzzzzzzz").toString());
  });

  it("takes no assertion a second time", async () => {
    const first = await AgentDevice.dial(home.id);
    const frame = await registerFrame(home.id, home.key, first.nonce);
    first.send(frame);
    await first.expect("device_registered");
    const replay = await AgentDevice.dial(home.id);
    replay.send(frame);
    expect(await replay.expect("error")).toMatchObject({ error_code: "UNAUTHENTICATED" });
    expect((await replay.closed).code).toBe(4401);
  });

  it.each([
    [
      "for another relay",
      async (nonce: string) => registerFrame(home.id, home.key, nonce, { audience: "evil.test" }),
    ],
    [
      "by another key",
      async (nonce: string) =>
        registerFrame(home.id, (await generateKeyPair("EdDSA", { crv: "Ed25519" })).privateKey, nonce),
    ],
    [
      "without a credential",
      async (nonce: string) => ({
        ...(await registerFrame(home.id, home.key, nonce)),
        auth_token: undefined,
      }),
    ],
    [
      "under another's id",
      async (nonce: string) => ({
        ...(await registerFrame(home.id, home.key, nonce)),
        device_id: "other-0000000000",
      }),
    ],
  ])("takes no registration %s, and the device that is there stays", async (_, frame) => {
    const there = await AgentDevice.come(home);
    const attacker = await AgentDevice.dial(home.id);
    attacker.send(await frame(attacker.nonce));
    await attacker.expect("error");
    expect([4401, 4404]).toContain((await attacker.closed).code);
    const caller = await TestCaller.connect(home.id, full.token);
    const answering = caller.call("SystemInfo");
    await there.serve("still here");
    expect(await answering).toMatchObject({ output: "still here" });
  });

  it("hears nothing from a socket that has not registered, whatever it sends", async () => {
    const there = await AgentDevice.come(home);
    const caller = await TestCaller.connect(home.id, full.token);
    caller.send({ id: "1", tool: "SystemInfo", input: {} });
    const execute = await there.expect("tool_execute");
    const attacker = await AgentDevice.dial(home.id);
    attacker.answer(execute, "forged");
    expect(await attacker.expect("error")).toMatchObject({ error_code: "UNKNOWN_DEVICE" });
    there.answer(execute, "genuine");
    expect(await caller.nextJson()).toMatchObject({ output: "genuine" });
  });

  it("does not let many silent sockets keep the device out", async () => {
    const silent = await Promise.all(Array.from({ length: 20 }, () => AgentDevice.dial(home.id)));
    const device = await AgentDevice.come(home);
    const caller = await TestCaller.connect(home.id, full.token);
    const answering = caller.call("SystemInfo");
    await device.serve("in");
    expect(await answering).toMatchObject({ output: "in" });
    for (const socket of silent) socket.close();
  });

  it("closes for good when the device is removed", async () => {
    const gone = await pairAgent(owner, "gone");
    const device = await AgentDevice.come(gone);
    expect((await owner.ask(`/v1/devices/${gone.id}`, { method: "DELETE" })).status).toBe(204);
    expect((await device.closed).code).toBe(4403);
    expect((await ask(`/v1/devices/${gone.id}`, { headers: bearer(full.token) })).status).toBe(404);
    await expect(AgentDevice.dial(gone.id)).rejects.toThrow("404");
  });
});

describe("a browser", () => {
  it("signs in once with a link; the link is worth nothing afterwards", async () => {
    const code = await claimCode("owner");
    const claim = async (code: string) => (await ask("/v1/claim", json(await claimWith(code)))).status;
    expect(await claim(code)).toBe(200);
    expect(await claim(code)).toBe(401);
    expect(await claim(await claimCode("owner", "x".repeat(43)))).toBe(401);
  });

  it("is signed in by a link to accounts that exist, and to no other", async () => {
    const { account } = await Person.signIn();
    const claim = async (account: string) =>
      ask("/v1/claim", json(await claimWith(await claimCode(account))));
    expect(await (await claim(account)).json()).toMatchObject({ account });
    const refused = await claim(`${account}-x`);
    expect([refused.status, await refused.json()]).toMatchObject([
      401,
      { code: "UNAUTHENTICATED", detail: expect.stringContaining(`${account}-x`) },
    ]);
  });

  it("gets a cookie that scripts cannot read and other sites cannot send", async () => {
    const response = await ask("/v1/claim", json(await claimWith(await claimCode("owner"))));
    const cookie = response.headers.get("Set-Cookie") ?? "";
    for (const part of ["HttpOnly", "SameSite=Strict", "Path=/"]) expect(cookie).toContain(part);
  });

  it.each([["https://evil.test"], ["http://relay.test.evil.test"], ["null"], [undefined], [ORIGIN]])(
    "cannot act by its cookie from %s",
    async (origin) => {
      const headers = {
        Cookie: owner.cookie,
        "Content-Type": "application/json",
        ...(origin && { Origin: origin }),
      };
      const post = await ask("/v1/tokens", { method: "POST", body: '{"name":"x","access":"full"}', headers });
      expect(post.status).toBe(401);
      const upgrade = await ask(`/v1/devices/${home.id}/ws`, {
        headers: { ...headers, Upgrade: "websocket" },
      });
      expect(upgrade.status).toBe(401);
    },
  );

  it("is signed out for good", async () => {
    const person = await Person.signIn();
    expect((await person.ask("/v1/sign-out", { method: "POST" })).status).toBe(204);
    expect((await person.ask("/v1/account")).status).toBe(401);
  });

  it("opens a socket with a ticket, once, for one device", async () => {
    const other = await pairAgent(owner, "ticket");
    const { ticket } = await owner.post<{ ticket: string }>("/v1/tickets", { device: home.id });
    const open = (device: string) =>
      ask(`/v1/devices/${device}/ws?ticket=${ticket}`, { headers: { Upgrade: "websocket" } });
    expect((await open(other.id)).status).toBe(401);
    const first = await open(home.id);
    expect(first.status).toBe(101);
    first.webSocket?.accept();
    first.webSocket?.close();
    expect((await open(home.id)).status).toBe(401);
  });

  it("opens a socket with a token among its subprotocols, and the token is not sent back", async () => {
    const headers = { Upgrade: "websocket", "Sec-WebSocket-Protocol": `matrx.v1, bearer.${full.token}` };
    const response = await ask(`/v1/devices/${home.id}/ws`, { headers });
    expect(response.status).toBe(101);
    expect(response.headers.get("Sec-WebSocket-Protocol")).toBe("matrx.v1");
    response.webSocket?.accept();
    response.webSocket?.close();
  });
});

describe("a pairing", () => {
  it("shows what asks, answers only its asker, and is confirmed once", async () => {
    const wish = { name: "Küche", hostname: "k", os: "Linux", os_version: "6", public_key: "A".repeat(43) };
    const started = await (await ask("/v1/pairings", json(wish))).json<{
      code: string;
      secret: string;
      verification_uri: string;
    }>();
    expect(started.code).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
    expect(started.verification_uri).toBe(`${ORIGIN}/#pair=${started.code}`);
    const view = await owner.ask(`/v1/pairings/${started.code.toLowerCase()}`);
    expect(await view.json()).toMatchObject({
      kind: "device",
      name: "Küche",
      fingerprint: expect.stringMatching(/^([0-9a-f]{4} ){7}[0-9a-f]{4}$/),
    });
    expect((await ask(`/v1/pairings/${started.code}`)).status).toBe(401);
    expect((await ask(`/v1/pairings/${started.code}/poll`, json({ secret: full.token }))).status).toBe(401);
    expect(
      await (await ask(`/v1/pairings/${started.code}/poll`, json({ secret: started.secret }))).json(),
    ).toEqual({ status: "pending" });
    const { device } = await owner.post<{ device: string }>(`/v1/pairings/${started.code}/confirm`, {});
    expect(device).toMatch(/^ku-?che-[0-9a-z]{10}$/);
    expect(
      await (await ask(`/v1/pairings/${started.code}/poll`, json({ secret: started.secret }))).json(),
    ).toMatchObject({ status: "paired", device_id: device, account: owner.account });
    expect((await owner.ask(`/v1/pairings/${started.code}/confirm`, json({}))).status).toBe(404);
  });

  it("needs a signed-in person, not an API token", async () => {
    const started = await (await ask("/v1/logins", json({ name: "cli" }))).json<{ code: string }>();
    expect((await ask(`/v1/pairings/${started.code}/confirm`, json({}, bearer(full.token)))).status).toBe(
      403,
    );
  });

  it("gives a command line a person session", async () => {
    const started = await (await ask("/v1/logins", json({ name: "cli" }))).json<{
      code: string;
      secret: string;
    }>();
    await owner.post(`/v1/pairings/${started.code}/confirm`, {});
    const polled = await (
      await ask(`/v1/pairings/${started.code}/poll`, json({ secret: started.secret }))
    ).json<{ status: string; token: string }>();
    expect(polled.status).toBe("signed_in");
    expect(await (await ask("/v1/account", { headers: bearer(polled.token) })).json()).toMatchObject({
      kind: "cli",
      person: true,
    });
    expect((await ask("/v1/tokens", { headers: bearer(polled.token) })).status).toBe(200);
  });

  it("is begun at most thirty times at once from one address, or one network of IPv6, then one every 20 seconds", async () => {
    const begin = (address: string) =>
      ask("/v1/logins", json({ name: "cli" }, { "CF-Connecting-IP": address }));
    for (let n = 0; n < 30; n++) expect((await begin(`2001:db8:1:2:${n}::1`)).status).toBe(201);
    const refused = await begin("2001:db8:1:2:ffff::1");
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({
      code: "RATE_LIMITED",
      hint: expect.stringMatching(/^Try again in (?:1?\d|20) seconds$/),
    });
    expect((await begin("2001:db8:1:3::1")).status).toBe(201);
  });

  it("gives tokens with which an open socket goes on; another grant's token does not", async () => {
    const started = await (await ask("/v1/logins", json({ name: "cli" }))).json<{
      code: string;
      secret: string;
    }>();
    await owner.post(`/v1/pairings/${started.code}/confirm`, {});
    const polled = await ask(`/v1/pairings/${started.code}/poll`, json({ secret: started.secret }));
    const { token: first } = await polled.json<{ token: string }>();
    const caller = await TestCaller.connect(home.id, first);
    caller.send({ action: "auth", token: await laterTokenOf(first) });
    expect(await caller.nextJson()).toMatchObject({
      type: "authenticated",
      expires: expect.stringMatching(/Z$/),
    });
    for (const token of [full.token, "x.y.z"]) {
      caller.send({ action: "auth", token });
      expect(await caller.nextJson()).toMatchObject({ id: null, type: "error", code: "UNAUTHENTICATED" });
    }
    caller.send({ action: "ping" });
    expect(await caller.nextJson()).toEqual({ type: "pong" });
  });

  it("lets nobody guess codes: five wrong ones and the door is shut", async () => {
    const guesser = await Person.signIn();
    for (let n = 0; n < 5; n++) expect((await guesser.ask(`/v1/pairings/0000000${n}`)).status).toBe(404);
    expect((await guesser.ask("/v1/pairings/00000009")).status).toBe(429);
  });
});
