/** Ann shares her laptop with Ben, who has an account of his own: he uses it as a guest, and nothing else of hers. */
import { evictDurableObject } from "cloudflare:test";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import type { createdShareSchema, NewShare, ReceivedShare } from "@matrx/shared/share-api.ts";
import { beforeEach, describe, expect, it } from "vitest";
import type * as z from "zod";
import { TestCaller } from "../helpers/caller.ts";
import { type Home, home, object } from "../helpers/home.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

type Share = z.infer<typeof createdShareSchema>;

let ann: Home;
let ben: Person;
let laptop: string;

beforeEach(async () => {
  ann = await home();
  ben = await Person.signIn();
  laptop = ann.identity.id;
});

const give = (wish: Partial<NewShare> = {}): Promise<Share> =>
  ann.person.post("/v1/shares", { name: "for Ben", devices: [laptop], paths: null, ...wish });

const codeOf = ({ link }: Share): string => link.split("#share=")[1] ?? "";

const accept = (share: Share, person = ben) => person.ask("/v1/shares/accept", json({ code: codeOf(share) }));

async function shared(wish: Partial<NewShare> = {}): Promise<Share> {
  const share = await give(wish);
  const response = await accept(share);
  if (response.status !== 200) throw new Error(await response.text());
  return share;
}

const devicesOf = async (person: Person) =>
  (await (await person.ask("/v1/devices")).json<{ devices: { id: string; shared_by?: string }[] }>()).devices;

const sharesOf = async (person: Person) =>
  (await person.ask("/v1/shares")).json<{ given: Share[]; received: ReceivedShare[] }>();

/** Ben calls a tool of the laptop over REST, and the laptop answers. Returns what the laptop got. */
async function benCalls(tool: string, body: object = {}) {
  const answering = ben.ask(`/v1/devices/${laptop}/tools/${tool}`, json(body));
  const call = await ann.device.serve("from the laptop");
  const response = await answering;
  return { call, status: response.status, answer: await response.json<Answer>() };
}

const connect = (person: Person = ben, protocol?: string) =>
  TestCaller.connect(laptop, person.accessToken, protocol ? { protocol } : {});

const revoke = (share: Pick<Share, "id">) => ann.person.ask(`/v1/tokens/${share.id}`, { method: "DELETE" });

describe("a share", () => {
  it("brings its devices to whoever accepts it, with the name of who shares", async () => {
    await ann.person.ask("/v1/account", { ...json({ display_name: "Ann" }), method: "PATCH" });
    await ben.ask("/v1/account", { ...json({ display_name: "Ben" }), method: "PATCH" });
    await ann.person.tag(laptop, ["secret-project"]);
    const share = await give({ paths: ["/srv/photos"], effects: ["read"] });
    expect(share).toMatchObject({
      ...{ kind: "share", credential: "guest", shared_with: null, secrets: "closed", ask: null },
      summary: expect.stringMatching(/^may read in \/srv\/photos on .+; never asks; expires/),
      qr_svg: expect.stringContaining("<svg"),
    });
    expect(await devicesOf(ben)).toEqual([]);

    const received = await (await accept(share)).json<ReceivedShare>();
    expect(received).toMatchObject({ id: share.id, shared_by: "Ann", devices: [{ id: laptop }] });
    const [device] = await devicesOf(ben);
    expect(device).toMatchObject({ id: laptop, shared_by: "Ann", state: "ONLINE", tags: [] });
    expect(await (await ben.ask(`/v1/devices/${laptop}`)).json()).toEqual(device);
    expect(await sharesOf(ben)).toEqual({ given: [], received: [received] });
    expect(await sharesOf(ann.person)).toMatchObject({
      given: [{ id: share.id, shared_with: "Ben" }],
      received: [],
    });
    expect(await ann.person.details(share.id)).toMatchObject({ credential: "guest", shared_with: "Ben" });
    expect(await devicesOf(ann.person)).toMatchObject([{ id: laptop, tags: ["secret-project"] }]);
  });

  it("lets the guest call tools, under the share's grant: never the owner's", async () => {
    const share = await shared({ effects: ["read", "execute"] });
    const { call, status, answer } = await benCalls("Bash", { command: "true" });
    expect([status, answer.output]).toEqual([200, "from the laptop"]);
    expect(call.grant).toEqual({ id: share.id, owner: false, effects: ["read", "execute"] });
    const refused = await ben.ask(`/v1/devices/${laptop}/tools/Write`, json({ file_path: "/x" }));
    expect([refused.status, await refused.json()]).toMatchObject([403, { code: "PERMISSION_DENIED" }]);
  });

  it("is used on every door: REST, WebSocket, ticket, and at the root", async () => {
    await shared();
    const socket = await connect();
    const answering = socket.call("Read");
    await ann.device.serve("by socket");
    expect(await answering).toMatchObject({ type: "success", output: "by socket" });

    const { ticket } = await ben.post<{ ticket: string }>("/v1/tickets", { device: laptop });
    const unsigned = await TestCaller.connect(laptop, "", { query: `?ticket=${ticket}` }).catch(
      () => undefined,
    );
    expect(unsigned).toBeUndefined();
    const path = `/v1/devices/${laptop}/ws?ticket=${(await ben.post<{ ticket: string }>("/v1/tickets", { device: laptop })).ticket}`;
    const upgraded = await ask(path, { headers: { Upgrade: "websocket" } });
    expect(upgraded.status).toBe(101);
    upgraded.webSocket?.accept();
    upgraded.webSocket?.close();
    expect((await ask(path, { headers: { Upgrade: "websocket" } })).status).toBe(401);

    const atRoot = ben.ask("/tools/invoke", json({ tool: "Read", input: {} }));
    await ann.device.serve("at the root");
    expect(await (await atRoot).json()).toMatchObject({ type: "success", output: "at the root" });
    for (const path of ["tools", "tools/list", "calls", "events", "system-prompt"])
      expect([path, (await ben.ask(`/v1/devices/${laptop}/${path}`)).status]).toEqual([path, 200]);
  });

  it("is accepted once, by a person of another account, within its seven days", async () => {
    const share = await give();
    const eve = await Person.signIn();
    expect((await accept(share, ann.person)).status).toBe(409);
    const { token } = await ben.token({ access: "full" });
    const byToken = await ask("/v1/shares/accept", json({ code: codeOf(share) }, bearer(token)));
    expect(byToken.status).toBe(403);
    expect((await accept(share)).status).toBe(200);
    expect((await accept(share, eve)).status).toBe(404);
    // An answer that got lost: the same account may ask again.
    expect((await accept(share)).status).toBe(200);
    expect((await sharesOf(ben)).received).toHaveLength(1);
    for (const code of ["", "x", `${codeOf(share).slice(0, -2)}xx`, ben.accessToken])
      expect((await eve.ask("/v1/shares/accept", json({ code }))).status).toBe(404);
    expect(await devicesOf(eve)).toEqual([]);
  });

  it("that was withdrawn before somebody accepted it is gone", async () => {
    const share = await give();
    expect((await revoke(share)).status).toBe(204);
    expect((await accept(share)).status).toBe(404);
  });

  it("must name its devices, and its folders or that there is no limit", async () => {
    const refused = async (wish: object) => {
      const response = await ann.person.ask("/v1/shares", json({ name: "x", ...wish }));
      return [response.status, (await response.json<{ field: string }>()).field];
    };
    expect(await refused({ paths: null })).toEqual([400, "devices"]);
    expect(await refused({ devices: [laptop] })).toEqual([400, "paths"]);
    expect(await refused({ devices: [laptop], paths: null, credential: "script" })).toEqual([
      400,
      "credential",
    ]);
    const share = await shared();
    const widened = await ann.person.ask(`/v1/tokens/${share.id}`, {
      ...json({ devices: null }),
      method: "PATCH",
    });
    expect(widened.status).toBe(400);
  });
});

describe("a guest", () => {
  it("does nothing that takes the device's owner", async () => {
    await shared();
    const at = `/v1/devices/${laptop}`;
    const tries: [string, RequestInit][] = [
      [at, { ...json({ name: "mine" }), method: "PATCH" }],
      [at, { method: "DELETE" }],
      [`${at}/policy`, {}],
      [`${at}/policy`, { ...json({}), method: "PUT" }],
      [`${at}/commands`, json({ command: "shutdown" })],
      [`${at}/approvals/approval_x`, {}],
      [`${at}/approvals/approval_x`, json({ decision: "allow" })],
      [`${at}/policy/explain`, json({ tool: "Read", grant: "grant_4k7m2x9qpatr6w1z" })],
    ];
    for (const [path, init] of tries) {
      const response = await ben.ask(path, init);
      expect([path, init.method, response.status]).toEqual([path, init.method, 403]);
      expect(await response.json()).toMatchObject({ code: "PERMISSION_DENIED" });
    }
    expect((await devicesOf(ann.person)).map(({ id }) => id)).toEqual([laptop]);
    // Nor does the share open anything of Ann's account.
    const other = (await ann.person.bareDevice()).id;
    expect((await ben.ask(`/v1/devices/${other}`)).status).toBe(404);
    const tokenFor = json({ name: "x", devices: [laptop], paths: null });
    expect((await ben.ask("/v1/tokens", tokenFor)).status).toBe(404);
    expect((await ben.ask("/v1/shares", tokenFor)).status).toBe(404);
  });

  it("comes in person: tokens of the same account reach nothing that is shared", async () => {
    await shared();
    for (const { token } of [await ben.token({ access: "full" }), await ben.grant({ paths: null })]) {
      expect(await (await ask("/v1/devices", { headers: bearer(token) })).json()).toEqual({ devices: [] });
      const call = await ask(`/v1/devices/${laptop}/tools/Read`, json({}, bearer(token)));
      expect([call.status, await call.json()]).toMatchObject([404, { code: "UNKNOWN_DEVICE" }]);
      expect((await ask("/v1/tickets", json({ device: laptop }, bearer(token)))).status).toBe(404);
    }
  });

  it("who signs out leaves no socket behind, and the share stays", async () => {
    await shared();
    const [socket, annSocket] = [await connect(), await connect(ann.person)];
    expect((await ben.ask("/v1/sign-out", { method: "POST" })).status).toBe(204);
    expect((await socket.closed).code).toBe(4403);
    expect((await ben.ask(`/v1/devices/${laptop}`)).status).toBe(401);
    expect((await ben.ask(`/v1/devices/${laptop}/tools/Read`, json({}))).status).toBe(401);
    const answering = annSocket.call("Read");
    await ann.device.serve("still here");
    expect(await answering).toMatchObject({ output: "still here" });

    ben = await Person.signIn(ben.account);
    expect((await benCalls("Read")).status).toBe(200);
  });

  it("who signs out reads no stream of a call any further", async () => {
    await shared();
    const stream = await ben.ask(
      `/v1/devices/${laptop}/tools/Bash`,
      json({ command: "sleep 60" }, { Accept: "text/event-stream" }),
    );
    await ben.ask("/v1/sign-out", { method: "POST" });
    expect(await stream.text()).toContain("The token was revoked");
  });

  it.each(["tools/Bash", "tools/invoke"])(
    "who signs out gets no answer that it waits for: %s",
    async (path) => {
      await shared({ effects: ["read", "execute"] });
      const body = path === "tools/Bash" ? { command: "cat" } : { tool: "Bash", input: { command: "cat" } };
      const answering = ben.ask(`/v1/devices/${laptop}/${path}`, json(body));
      const call = await ann.device.expect("tool_execute");
      await ben.ask("/v1/sign-out", { method: "POST" });
      const answer = await (await answering).text();
      expect(answer).toContain("The token was revoked");
      ann.device.answer(call, "too late");
      ben = await Person.signIn(ben.account);
      const { calls } = await (await ben.ask(`/v1/devices/${laptop}/calls`)).json<{ calls: object[] }>();
      expect(calls).toMatchObject([{ tool: "Bash" }]);
    },
  );

  it("sees nothing of what the owner called", async () => {
    await shared();
    const owners = await TestCaller.connect(laptop, ann.token);
    const answering = owners.call("Read");
    await ann.device.serve("hers");
    await answering;
    const seen = await (await ben.ask(`/v1/devices/${laptop}`)).json();
    expect(seen).toMatchObject({ id: laptop, proof: null });
    expect(await (await ann.person.ask(`/v1/devices/${laptop}`)).json()).toMatchObject({
      proof: { tool: "Read" },
    });
  });

  it("whose account the relay's owner closes holds no share any more, and its calls end", async () => {
    const owner = await Person.signIn("owner");
    const { account, link } = await owner.post<{ account: string; link: string }>("/v1/invites", {
      name: "Ben",
    });
    const code = link.split("#invite=")[1];
    ben = await Person.signInBy("/v1/invites/accept", { code, name: "Ben" });
    await shared({ effects: ["read", "execute"] });
    const answering = ben.ask(`/v1/devices/${laptop}/tools/Bash`, json({ command: "sleep 60" }));
    const call = await ann.device.expect("tool_execute");
    expect((await owner.ask(`/v1/accounts/${account}`, { method: "DELETE" })).status).toBe(204);
    expect(await ann.device.expect("tool_cancel")).toMatchObject({ tool_call_id: call.tool_call_id });
    expect((await answering).status).toBe(401);
    expect((await sharesOf(ann.person)).given).toEqual([]);
  });

  it("is signed out on shared devices too when these sleep", async () => {
    await shared();
    const socket = await connect();
    await evictDurableObject(object(laptop));
    await ben.ask("/v1/sign-out", { method: "POST" });
    expect((await socket.closed).code).toBe(4403);
  });

  it("continues a socket with a token of the same session, and with no other", async () => {
    await shared();
    const socket = await connect();
    const auth = async (token: string) => {
      socket.send({ action: "auth", token });
      return socket.nextJson();
    };
    const elsewhere = await Person.signIn(ben.account);
    expect(await auth(elsewhere.accessToken)).toMatchObject({ type: "error", code: "UNAUTHENTICATED" });
    expect(await auth(ann.person.accessToken)).toMatchObject({ type: "error", code: "UNAUTHENTICATED" });
    await ben.renew();
    expect(await auth(ben.accessToken)).toMatchObject({ type: "authenticated" });
  });

  it("sees the calls of the share, and none of the owner's", async () => {
    await shared();
    const owners = ann.caller.call("Bash", { command: "secret" });
    await ann.device.serve("owner's");
    const { call } = (await owners) as { call?: string };
    await benCalls("Bash", { command: "mine" });
    const listed = await (await ben.ask(`/v1/devices/${laptop}/calls`)).json<{ calls: { call: string }[] }>();
    expect(listed.calls).toHaveLength(1);
    expect((await ben.ask(`/v1/devices/${laptop}/calls/${call}`)).status).toBe(404);
    expect((await ann.person.ask(`/v1/devices/${laptop}/calls/${listed.calls[0]?.call}`)).status).toBe(200);
  });
});

describe("a share that ends", () => {
  const isGone = async () => {
    expect(await devicesOf(ben)).toEqual([]);
    const response = await ben.ask(`/v1/devices/${laptop}`);
    expect([response.status, await response.json()]).toMatchObject([404, { code: "UNKNOWN_DEVICE" }]);
    expect((await sharesOf(ben)).received).toEqual([]);
  };

  it("because its giver revokes it closes the guest's sockets, and its device vanishes", async () => {
    const share = await shared();
    const socket = await connect();
    expect((await revoke(share)).status).toBe(204);
    expect((await socket.closed).code).toBe(4403);
    await isGone();
    expect((await accept(share)).status).toBe(404);
  });

  it("because the guest leaves is gone for both", async () => {
    const share = await shared();
    const socket = await connect();
    const eve = await Person.signIn();
    const leave = (person: Person) => person.ask(`/v1/shares/${share.id}`, { method: "DELETE" });
    expect([(await leave(eve)).status, (await leave(ann.person)).status]).toEqual([404, 404]);
    expect((await leave(ben)).status).toBe(204);
    expect((await socket.closed).code).toBe(4403);
    await isGone();
    expect((await sharesOf(ann.person)).given).toEqual([]);
    expect((await leave(ben)).status).toBe(404);
  });

  it("because the tag it was for is taken away is withdrawn from that device", async () => {
    await ann.person.tag(laptop, ["family"]);
    const share = await give({ tags: ["family"], devices: undefined } as never);
    await accept(share);
    const socket = await connect();
    await ann.person.tag(laptop, []);
    expect((await socket.closed).code).toBe(4403);
    expect(await devicesOf(ben)).toEqual([]);
    expect((await ben.ask(`/v1/devices/${laptop}`)).status).toBe(404);
    // What is left of it is the share itself.
    expect((await sharesOf(ben)).received).toMatchObject([{ id: share.id, devices: [] }]);
  });

  it("with the removal of the device", async () => {
    await shared();
    await ann.person.ask(`/v1/devices/${laptop}`, { method: "DELETE" });
    expect(await devicesOf(ben)).toEqual([]);
    expect((await ben.ask(`/v1/devices/${laptop}`)).status).toBe(404);
  });

  it("or narrows follows at once, on open sockets too", async () => {
    const share = await shared();
    const socket = await connect();
    await ann.person.change(share.id, { effects: ["read"] });
    socket.send({ id: "1", tool: "Bash", input: { command: "true" } });
    expect(await socket.nextJson()).toMatchObject({ id: "1", type: "error", code: "PERMISSION_DENIED" });
    // It has no token that would expire, so it may last longer as well.
    const longer = await ann.person.change(share.id, { days: 300 });
    expect(Date.parse(longer.expires)).toBeGreaterThan(Date.now() + 299 * 24 * 60 * 60_000);
  });
});
