/**
 * Another account's ids: the same answer as ids that never existed, byte for byte, after the same calls of the same objects.
 * Every route of the OpenAPI description is walked, so a new one must find its place here.
 */
import { makeCallId } from "@matrx/shared/ids.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { TestCaller } from "../helpers/caller.ts";
import { storedFile } from "../helpers/cloud.ts";
import { AgentDevice, pairAgent } from "../helpers/device.ts";
import { askCounting } from "../helpers/object-calls.ts";
import { subscribe } from "../helpers/push.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask, ORIGIN } from "../helpers/request.ts";

type Ids = Readonly<Record<string, string>>;

interface Route {
  readonly method: string;
  readonly path: string;
  readonly id: string;
}

/** Paths whose ids are of no account. */
const OF_NO_ACCOUNT: ReadonlySet<string> = new Set([
  // The secret is in the link, and no credential is asked for.
  "openFileLink",
  // To browsers it is a question about CORS, and the answer is the same for any device.
  "getUploadOptions",
  // A code belongs to whoever confirms it; five wrong guesses are allowed in ten minutes.
  ...["getPairing", "confirmPairing", "pollPairing"],
  // The relay's owner alone asks for accounts and invites; everybody else is refused before the id is looked at.
  ...["withdrawInvite", "closeAccount"],
]);

/** Bodies that are right but for the ids. */
const BODIES: Readonly<Record<string, unknown>> = {
  createCloudFile: { path: "/a" },
  createCloudCopy: { file: "cloud_4k7m2x9qpatr6w1z", path: "/a" },
  changeToken: { name: "mine now" },
  changeDevice: { name: "mine now" },
  setPolicy: {},
  explainPolicy: { tool: "Read" },
  sendCommand: { command: "shutdown" },
  changePushSubscription: { kinds: [] },
  decideApproval: { decision: "allow" },
  invokeTool: { tool: "Read", input: {} },
  callTool: {},
};

let routes: Route[];
let walker: Person;
let credentials: Record<"person" | "script" | "ai", string>;
let own: Ids;
let foreign: Ids;

beforeAll(async () => {
  const ann = await Person.signIn();
  const annIdentity = await pairAgent(ann);
  const annDevice = await AgentDevice.come(annIdentity);
  const annToken = await ann.grant({ paths: null, ask: [] });
  const annCaller = await TestCaller.connect(annIdentity.id, annToken.token);
  annCaller.send({ id: "1", tool: "Bash", input: { command: "true" } });
  await annDevice.serve("done");
  const { call = "" } = await annCaller.nextJson<{ call?: string }>();
  foreign = {
    ...{ device: annIdentity.id, grant: annToken.id, call, account: ann.account },
    ...{ approval: "approval_4k7m2x9qpatr6w1z", invite: "invite_4k7m2x9qpatr6w1z", tool: "Read" },
    cloud_file: (await storedFile(ann, "hers")).id,
    subscription: (await subscribe(ann)).id,
  };

  walker = await Person.signIn();
  const { id: device } = await walker.bareDevice();
  const [script, ai] = [await walker.token({ access: "full" }), await walker.grant({ paths: null })];
  own = { ...foreign, device };
  credentials = { person: walker.accessToken, script: script.token, ai: ai.token };
  const { paths } = await (await ask("/openapi.json")).json<{
    paths: Record<string, Record<string, { operationId: string }>>;
  }>();
  routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId: id }]) => ({ method, path, id })),
  );
});

/** Ids of the same form and length that nobody was ever given. */
function neverGiven(): Ids {
  const random = (length: number) =>
    crypto
      .randomUUID()
      .replaceAll(/[^0-9a-f]/g, "")
      .slice(0, length);
  const device = foreign.device ?? "";
  return {
    ...foreign,
    device: `${device.slice(0, -10)}${random(10)}`,
    grant: `grant_${random(16)}`,
    call: makeCallId(),
    approval: `approval_${random(16)}`,
    invite: `invite_${random(16)}`,
    cloud_file: `cloud_${random(16)}`,
    subscription: `push_${random(16)}`,
  };
}

function withIds(path: string, ids: Ids): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "");
}

/** What a request gets, with its ids called by their names, and the objects' calls for it. */
async function told(path: string, init: RequestInit, ids: Ids) {
  const { response, calls } = await askCounting(path, init);
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !OF_EACH_CALL.has(name)));
  let body = await response.text();
  for (const [name, id] of Object.entries(ids)) body = body.replaceAll(id, `{${name}}`);
  return { status: response.status, headers, body, calls };
}

/** Answers name the call, which is another each time. */
const OF_EACH_CALL: ReadonlySet<string> = new Set(["matrx-call", "matrx-session"]);

function request(
  { method, id }: Pick<Route, "method" | "id">,
  token: string,
  more: object = {},
): RequestInit {
  const headers = { ...bearer(token), Origin: ORIGIN, ...more };
  if (id === "openCallerLink") return { headers: { ...headers, Upgrade: "websocket" } };
  if (method === "get" || method === "delete") return { method: method.toUpperCase(), headers };
  return { ...json(BODIES[id] ?? {}, headers), method: method.toUpperCase() };
}

/** The answer to another account's ids, if it is that to ids that never existed; `base` are the caller's own. */
async function sameAsNever(route: Route, token: string, base: Ids = {}): Promise<number> {
  const [theirs, none] = [
    { ...foreign, ...base },
    { ...neverGiven(), ...base },
  ];
  // Twice each: what an isolate remembers of the first request must not tell either.
  for (let time = 0; time < 2; time++) {
    const [of, never] = [
      await told(withIds(route.path, theirs), request(route, token), theirs),
      await told(withIds(route.path, none), request(route, token), none),
    ];
    expect([route.id, of]).toEqual([route.id, never]);
    if (time === 1) return of.status;
  }
  return 0;
}

const withDevice = () => routes.filter(({ id, path }) => path.includes("{device}") && !OF_NO_ACCOUNT.has(id));
const withOtherIds = () =>
  routes.filter(({ id, path }) => /\{(?!device|tool)\w+\}/.test(path) && !OF_NO_ACCOUNT.has(id));

describe("what belongs to another account", () => {
  it("is looked for on every route with an id of an account", () => {
    const walked = new Set([...withDevice(), ...withOtherIds()].map(({ id }) => id));
    const left = routes.filter(({ id, path }) => path.includes("{") && !walked.has(id));
    expect(left.map(({ id }) => id).sort()).toEqual([...OF_NO_ACCOUNT].sort());
    expect(walked.size).toBeGreaterThan(20);
  });

  it("does not exist for a person", async () => {
    for (const route of [...withDevice(), ...withOtherIds()])
      expect([route.id, await sameAsNever(route, credentials.person)]).toEqual([route.id, 404]);
  });

  it.each(["script", "ai"] as const)("does not exist for a token of the kind %s", async (kind) => {
    for (const route of [...withDevice(), ...withOtherIds()])
      expect([404, 403]).toContain(await sameAsNever(route, credentials[kind]));
  });

  it("does not exist under a device of one's own either", async () => {
    // The first request for it asks the directory.
    await ask(`/v1/devices/${own.device}`, { headers: bearer(credentials.person) });
    for (const route of withOtherIds().filter(({ path }) => path.includes("{device}")))
      expect([route.id, await sameAsNever(route, credentials.person, { device: own.device ?? "" })]).toEqual([
        route.id,
        404,
      ]);
  });
});

describe("ids in bodies, queries and headers", () => {
  const devices = (ids: Ids) => ({ name: "x", paths: null, devices: [ids.device] });
  const places: Record<string, (ids: Ids) => [string, RequestInit]> = {
    ticket: (ids) => ["/v1/tickets", json({ device: ids.device })],
    token: (ids) => ["/v1/tokens", json(devices(ids))],
    share: (ids) => ["/v1/shares", json(devices(ids))],
    explanation: (ids) => [
      `/v1/devices/${own.device}/policy/explain`,
      json({ tool: "Read", grant: ids.grant }),
    ],
    "?device=": (ids) => [`/tools/list?device=${ids.device}`, {}],
    "X-Matrx-Device": (ids) => [
      "/tools/invoke",
      json({ tool: "Read", input: {} }, { "X-Matrx-Device": ids.device ?? "" }),
    ],
  };

  it.each(Object.keys(places))("say no more: %s", async (place) => {
    const asked = async (ids: Ids) => {
      const [path, init] = places[place]?.(ids) ?? ["", {}];
      const headers = { ...(init.headers as object), ...bearer(credentials.person), Origin: ORIGIN };
      return told(path, { ...init, headers }, ids);
    };
    for (let time = 0; time < 2; time++) {
      const theirs = await asked(foreign);
      expect(theirs).toEqual(await asked(neverGiven()));
      expect(theirs.status).toBeGreaterThanOrEqual(400);
      expect(theirs.status).toBeLessThan(500);
    }
  });
});

it("an invited person learns as little of the owner's ids", async () => {
  for (const route of routes.filter(({ id }) => ["withdrawInvite", "closeAccount"].includes(id)))
    expect([route.id, await sameAsNever(route, credentials.person)]).toEqual([route.id, 403]);
});

it("and what belongs to the account itself is there all along", async () => {
  const { response } = await askCounting(`/v1/devices/${own.device}`, {
    headers: bearer(credentials.person),
  });
  expect(response.status).toBe(200);
  await response.text();
});
