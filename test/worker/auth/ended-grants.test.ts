/** Whatever can be open of a grant ends with it: one of each kind is opened, and the grant is ended in each way. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { createdShareSchema } from "@matrx/shared/share-api.ts";
import { expect, it } from "vitest";
import type * as z from "zod";
import { TestCaller } from "../helpers/caller.ts";
import { EventReader } from "../helpers/events.ts";
import { type Home, home, object } from "../helpers/home.ts";
import { callOver, greet, listen, subscribe } from "../helpers/mcp.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";
import { TestSocket } from "../helpers/socket.ts";

/** Something open, and its end as its holder sees it. */
interface Opened {
  readonly over: Promise<unknown>;
}

type Kinds = Record<string, (house: Home, token: string) => Promise<Opened>>;

const toolAt = ({ identity }: Home, tool: string) => `/v1/devices/${identity.id}/tools/${tool}`;
const mcpAt = ({ identity }: Home) => `/mcp/d/${identity.id}`;

async function toTheEnd(response: Response): Promise<string> {
  return JSON.stringify(await new EventReader(response).rest());
}

/** The device has the call, and never answers. */
async function asked({ device }: Home, answer: Promise<Response>): Promise<Promise<Response>[]> {
  await device.expect("tool_execute");
  return [answer];
}

async function news(asking: Promise<Response>): Promise<Opened> {
  const response = await asking;
  expect(response.status).toBe(200);
  return { over: toTheEnd(response) };
}

const CONNECTIONS: Kinds = {
  "a caller link": async ({ identity }, token) => {
    const { closed } = await TestCaller.connect(identity.id, token);
    return { over: closed.then(({ code }) => expect([4403, 4404]).toContain(code)) };
  },
  "news at the device, 2025": (house, token) => news(listen(mcpAt(house), token)),
  "news at the device, 2026": (house, token) => news(subscribe(mcpAt(house), token)),
};

const CALLS: Kinds = {
  "a call by REST": async (house, token) => {
    const [answer] = await asked(house, ask(toolAt(house, "Bash"), json({}, bearer(token))));
    return {
      over: Promise.resolve(answer).then((refused) => expect(refused?.status).toBeGreaterThanOrEqual(401)),
    };
  },
  "a call by REST with events": async (house, token) => {
    const headers = { ...bearer(token), Accept: "text/event-stream" };
    const [answer] = await asked(house, ask(toolAt(house, "Bash"), json({}, headers)));
    return { over: toTheEnd((await answer) as Response) };
  },
  "a call over MCP at the device": async (house, token) => {
    const [answer] = await asked(house, callOver(mcpAt(house), token, "Bash", { command: "x" }));
    return { over: toTheEnd((await answer) as Response) };
  },
  "a call over MCP at all devices": async (house, token) => {
    const input = { command: "x", device: house.identity.id };
    const [answer] = await asked(house, callOver("/mcp", token, "Bash", input));
    return { over: toTheEnd((await answer) as Response) };
  },
};

const AT_A_DEVICE: Kinds = { ...CONNECTIONS, ...CALLS };

const AT_THE_RELAY: Kinds = {
  "news of all devices, 2025": (_, token) => news(listen("/mcp", token)),
  "news of all devices, 2026": (_, token) => news(subscribe("/mcp", token)),
};

class AccountLink extends TestSocket {
  static async connect(token: string): Promise<AccountLink> {
    return new AccountLink(...(await TestSocket.upgrade("/v1/account/ws", bearer(token))));
  }
}

const OF_A_PERSON: Kinds = {
  "an account link": async (_, token) => {
    const { closed } = await AccountLink.connect(token);
    return { over: closed.then(({ code }) => expect(code).toBe(4403)) };
  },
};

interface Holder {
  readonly house: Home;
  readonly token: string;
  end(): Promise<unknown>;
}

async function grantOf(credential: "ai" | "script"): Promise<{ house: Home; token: string; id: string }> {
  const house = await home();
  const wish = { credential, ...(credential === "ai" && { effects: ["read", "write", "execute"], ask: [] }) };
  const { token, id } = await house.person.grant({ ...wish, paths: null } as never);
  return { house, token, id };
}

async function ended(response: Response): Promise<void> {
  expect(response.ok, await response.clone().text()).toBe(true);
}

/** Ben's session at Ann's house. */
async function guestOf(house: Home): Promise<{ ben: Person; share: string }> {
  const ben = await Person.signIn();
  const wish = { name: "for Ben", devices: [house.identity.id], paths: null };
  const share = await house.person.post<z.infer<typeof createdShareSchema>>("/v1/shares", wish);
  await ben.post("/v1/shares/accept", { code: share.link.split("#share=")[1] });
  return { ben, share: share.id };
}

const WAYS: Record<string, { kinds: Kinds; hold: () => Promise<Holder> }> = {
  "an AI's token that its person revokes": {
    kinds: { ...AT_A_DEVICE, ...AT_THE_RELAY },
    hold: async () => {
      const { house, token, id } = await grantOf("ai");
      return {
        house,
        token,
        end: () => house.person.ask(`/v1/tokens/${id}`, { method: "DELETE" }).then(ended),
      };
    },
  },
  "a script's token": {
    kinds: { ...AT_A_DEVICE, ...AT_THE_RELAY },
    hold: async () => {
      const { house, token, id } = await grantOf("script");
      return {
        house,
        token,
        end: () => house.person.ask(`/v1/tokens/${id}`, { method: "DELETE" }).then(ended),
      };
    },
  },
  "the session of a person who signs out": {
    kinds: { ...AT_A_DEVICE, ...AT_THE_RELAY, ...OF_A_PERSON },
    hold: async () => {
      const house = await home();
      const end = () => house.person.ask("/v1/sign-out", { method: "POST" }).then(ended);
      return { house, token: house.person.accessToken, end };
    },
  },
  "all of an account that is closed": {
    kinds: { ...AT_A_DEVICE, ...AT_THE_RELAY },
    hold: async () => {
      const { house, token } = await grantOf("ai");
      return {
        house,
        token,
        end: () => env.ACCOUNT.getByName(house.person.account).close() as Promise<unknown>,
      };
    },
  },
  "a token that is no longer for the device": {
    kinds: AT_A_DEVICE,
    hold: async () => {
      const { house, token, id } = await grantOf("ai");
      const other = await house.person.bareDevice("other");
      return { house, token, end: () => house.person.change(id, { devices: [other.id] }) };
    },
  },
  "a share that is withdrawn": {
    kinds: AT_A_DEVICE,
    hold: async () => {
      const house = await home();
      const { ben, share } = await guestOf(house);
      const end = () => house.person.ask(`/v1/tokens/${share}`, { method: "DELETE" }).then(ended);
      return { house, token: ben.accessToken, end };
    },
  },
  "a share that its guest gives back": {
    kinds: AT_A_DEVICE,
    hold: async () => {
      const house = await home();
      const { ben, share } = await guestOf(house);
      const end = () => ben.ask(`/v1/shares/${share}`, { method: "DELETE" }).then(ended);
      return { house, token: ben.accessToken, end };
    },
  },
  "all at a device that is removed": {
    kinds: AT_A_DEVICE,
    hold: async () => {
      const { house, token } = await grantOf("ai");
      const path = `/v1/devices/${house.identity.id}`;
      return { house, token, end: () => house.person.ask(path, { method: "DELETE" }).then(ended) };
    },
  },
  "calls of an AI's token while all is paused": {
    kinds: CALLS,
    hold: async () => {
      const { house, token } = await grantOf("ai");
      return { house, token, end: () => house.person.post("/v1/pause", { paused: true }) };
    },
  },
  "calls of a guest while all is paused": {
    kinds: CALLS,
    hold: async () => {
      const house = await home();
      const { ben } = await guestOf(house);
      return { house, token: ben.accessToken, end: () => house.person.post("/v1/pause", { paused: true }) };
    },
  },
  "a guest's session, who signs out": {
    kinds: { ...AT_A_DEVICE, ...AT_THE_RELAY, ...OF_A_PERSON },
    hold: async () => {
      const house = await home();
      const { ben } = await guestOf(house);
      return {
        house,
        token: ben.accessToken,
        end: () => ben.ask("/v1/sign-out", { method: "POST" }).then(ended),
      };
    },
  },
};

it.each(Object.entries(WAYS))(
  "%s: nothing stays open",
  async (_, { kinds, hold }) => {
    const { house, token, end } = await hold();
    const open: [string, Opened][] = [];
    // One after the other: each takes its own call at the device.
    for (const [kind, begin] of Object.entries(kinds)) open.push([kind, await begin(house, token)]);
    await end();
    for (const [kind, { over }] of open) await expect(over, kind).resolves.toBeDefined();
  },
  15_000,
);

it("a token is refused at once where it was used only just before", async () => {
  const { house, token, id } = await grantOf("ai");
  for (const path of ["/mcp", mcpAt(house)]) expect((await greet(path, token)).status, path).toBe(200);
  await house.person.ask(`/v1/tokens/${id}`, { method: "DELETE" }).then(ended);
  for (const path of ["/mcp", mcpAt(house)]) expect((await greet(path, token)).status, path).toBe(401);
});

it("a guest's request ends with the session, also when the device's storage fails just then", async () => {
  const house = await home();
  const { ben } = await guestOf(house);
  const [answer] = await asked(house, ask(toolAt(house, "Bash"), json({}, bearer(ben.accessToken))));
  await runInDurableObject(object(house.identity.id), (_, { storage: { kv } }) => {
    const fail = () => {
      throw new Error("disk I/O error");
    };
    Object.defineProperty(kv, "get", { value: fail });
  });
  await ben.ask("/v1/sign-out", { method: "POST" }).then(ended);
  expect((await answer)?.status).toBe(401);
});
