/** Kinds of credential: what takes a person, nobody else may, by whatever route. */
import { beforeAll, expect, it } from "vitest";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask, ORIGIN } from "../helpers/request.ts";

interface Route {
  readonly method: string;
  readonly path: string;
  readonly id: string;
}

/** Every route by who may use it: a new one must find its place here. */
const WHO: Readonly<Record<"person" | "caller" | "others", readonly string[]>> = {
  person: [
    "createSignInLink",
    "revokeOtherSessions",
    "beginPasskey",
    "createPasskey",
    "listPasskeys",
    "renamePasskey",
    "removePasskey",
    "createRecoveryCodes",
    "getRecoveryCodes",
    "changeAccount",
    "createInvite",
    "listInvites",
    "withdrawInvite",
    "closeAccount",
    "createShare",
    "listShares",
    "acceptShare",
    "leaveShare",
    "listTokens",
    "createToken",
    "createFileLink",
    "createPortLink",
    "createCloudFile",
    "createCloudCopy",
    "listCloudFiles",
    "getCloudFile",
    "removeCloudFile",
    "getToken",
    "changeToken",
    "revokeToken",
    "getPairing",
    "confirmPairing",
    "createDevice",
    "changeDevice",
    "removeDevice",
    "setPolicy",
    "sendCommand",
    "listApprovals",
    "getApproval",
    "decideApproval",
    "getPause",
    "setPause",
    ...["getPush", "changePush", "testPush"],
    ...["createPushSubscription", "changePushSubscription", "removePushSubscription"],
    "cancelCalls",
    "listAudit",
    "getAuditHead",
    "exportAudit",
    "readClientRequest",
    "allowClient",
    "refuseClient",
  ],
  caller: [
    "signOut",
    "getAccount",
    "createTicket",
    "listDevices",
    "getDevice",
    "getPolicy",
    "explainPolicy",
    "listTools",
    "callTool",
    ...["getFile", "putFile", "beginUpload", "getUpload", "continueUpload", "removeUpload", "overrideUpload"],
    "getSystemPrompt",
    "listCalls",
    "getCall",
    "cancelCall",
    "listEvents",
    "listToolNames",
    "invokeTool",
    "listToolNamesAtRoot",
    "invokeToolAtRoot",
  ],
  /** Without a credential of these kinds: by a secret, as a device, by anyone, or as an upgrade. */
  others: [
    "claim",
    "acceptInvite",
    "refreshSession",
    "beginPasskeySignIn",
    "signInWithPasskey",
    "recover",
    "listSignInMethods",
    "startIssuerSignIn",
    "returnFromIssuer",
    "finishIssuerSignIn",
    "startPairing",
    "startLogin",
    "pollPairing",
    "getResourceMetadata",
    "getMcpMetadata",
    "getDeviceMcpMetadata",
    "getAuthorizationServerMetadata",
    "registerClient",
    "exchangeToken",
    "authorizeClient",
    "getHealth",
    "openFileLink",
    // To browsers it is a question about CORS, and says nothing of the device.
    "getUploadOptions",
    "getPublicKeys",
    "getDescription",
    "getDocs",
    "openDeviceLink",
    "openDeviceLinkAtRoot",
    "openCallerLink",
    "openAccountLink",
  ],
};

let person: Person;
let device: string;
let tokens: Record<"ai" | "script", { token: string; id: string }>;
let routes: Route[];

beforeAll(async () => {
  person = await Person.signIn();
  device = (await person.bareDevice()).id;
  tokens = {
    ai: await person.grant({ paths: null, ask: [], secrets: "open" }),
    script: await person.grant({ credential: "script", devices: [device] }),
  };
  const { paths } = await (await ask("/openapi.json")).json<{
    paths: Record<string, Record<string, { operationId: string }>>;
  }>();
  routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId: id }]) => ({ method, path, id })),
  );
});

function request({ method, path }: Route, token?: string): Promise<Response> {
  const names: Record<string, string> = {
    device,
    grant: tokens.ai.id,
    code: "ABCDEFGH",
    tool: "Read",
    approval: "approval_x",
  };
  const full = path.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? crypto.randomUUID());
  const headers = { ...(token && bearer(token)), Origin: ORIGIN };
  const body = method === "get" || method === "delete" ? {} : json({}, headers);
  return ask(full, { ...body, method: method.toUpperCase(), headers: { ...headers, ...body.headers } });
}

it("each route has its place", () => {
  expect(routes.map(({ id }) => id).sort()).toEqual(Object.values(WHO).flat().sort());
});

it.each(["ai", "script"] as const)("what takes a person is refused to the token of kind %s", async (kind) => {
  const persons = routes.filter(({ id }) => WHO.person.includes(id));
  for (const route of persons) {
    const response = await request(route, tokens[kind].token);
    expect([route.id, response.status]).toEqual([route.id, 403]);
    expect(await response.json()).toMatchObject({ code: "PERMISSION_DENIED", hop: "relay" });
  }
  // Nothing of it happened.
  expect((await person.ask(`/v1/devices/${device}`)).status).toBe(200);
  expect(await person.details(tokens.ai.id)).toMatchObject({ version: 1, credential: "ai" });
});

it("without a credential every other route is refused, too", async () => {
  for (const route of routes.filter(({ id }) => !WHO.others.includes(id))) {
    const response = await request(route);
    expect([route.id, response.status]).toEqual([route.id, 401]);
    await response.arrayBuffer();
  }
});

it("an AI grant does not see the policy either", async () => {
  const policy = (token: string) => ask(`/v1/devices/${device}/policy`, { headers: bearer(token) });
  expect((await policy(tokens.ai.token)).status).toBe(403);
  expect((await policy(tokens.script.token)).status).toBe(200);
});

it("each says what it is", async () => {
  const who = async (token: string) => (await ask("/v1/account", { headers: bearer(token) })).json();
  expect(await who(tokens.ai.token)).toMatchObject({ kind: "api", credential: "ai", person: false });
  expect(await who(tokens.script.token)).toMatchObject({ kind: "api", credential: "script", person: false });
  expect(await (await person.ask("/v1/account")).json()).toMatchObject({
    credential: "person",
    person: true,
  });
});

it("a new token is an AI grant that reads in its folders and asks for the rest", async () => {
  const made = await person.grant({ paths: ["~/projects"], devices: [device] });
  expect(made).toMatchObject({
    credential: "ai",
    secrets: "closed",
    effects: ["read", "write", "execute"],
    ask: [{ effects: ["write", "execute"] }],
    version: 1,
    summary: expect.stringMatching(
      /^may read, write and run commands in ~\/projects on bare; asks before it writes or runs commands; expires \d{4}-/,
    ),
  });
  expect(made).not.toHaveProperty("warning");
  const refused = await person.ask("/v1/tokens", json({ name: "everywhere" }));
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { code: "INVALID_PARAMETERS", field: "paths", hint: expect.stringContaining("null") },
  ]);
  expect(await person.grant({ paths: null })).toMatchObject({ credential: "ai", paths: null });
});

it("an own script token comes with a warning, and takes no questions", async () => {
  const everywhere = await person.grant({ credential: "script" });
  expect(everywhere).toMatchObject({
    credential: "script",
    warning: expect.stringContaining("all your devices"),
  });
  const asking = json({ name: "x", credential: "script", ask: [] });
  expect((await person.ask("/v1/tokens", asking)).status).toBe(400);
});

it("the body of older clients makes what it made, with secrets closed and a warning for an owner's", async () => {
  const older = (wish: object) => person.post("/v1/tokens", { name: "older", ...wish });
  const closed = { credential: "ai", secrets: "closed", ask: null };
  expect(await older({ access: "read" })).toMatchObject({ ...closed, effects: ["read"], paths: null });
  expect(await older({ access: "full", paths: ["/srv"] })).toMatchObject({ ...closed, access: "full" });
  expect(await older({ access: "full" })).toMatchObject({
    credential: "script",
    warning: expect.any(String),
  });
  const mixed = json({ name: "x", access: "read", effects: ["execute"] });
  expect((await person.ask("/v1/tokens", mixed)).status).toBe(400);
});
