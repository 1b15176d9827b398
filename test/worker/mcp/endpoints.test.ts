/** The MCP endpoints of an object: one for each caller, each within its own rate. */
import { MatrxError } from "@matrx/shared/errors.ts";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";
import type { CallEnd, McpDevice } from "@matrx/shared/mcp/device.ts";
import type { McpHost } from "@matrx/shared/mcp/host.ts";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Caller } from "../../../worker/auth/caller.ts";
import { EnabledFamilies } from "../../../worker/mcp/enabled-families.ts";
import { McpEndpoints } from "../../../worker/mcp/endpoints.ts";
import type { Kv } from "../../../worker/storage/watched.ts";

const host: McpHost = {
  tools: async () => [],
  target: () => Promise.reject(new Error("nobody calls")),
  answer: async () => ({ content: [] }),
};

const enabled = new EnabledFamilies({ get: () => undefined, put() {}, delete: () => false } satisfies Pick<
  Kv,
  "get" | "put" | "delete"
>);

const caller = (grant: string): Caller => ({
  ...{ account: "owner" as AccountId, grant: grant as GrantId },
  expires: Number.POSITIVE_INFINITY,
});

function post(message: object, headers: Record<string, string> = {}): Request {
  return new Request("https://relay.example/mcp", {
    method: "POST",
    headers: {
      ...{ "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
}

const ping = () => post({ id: 1, method: "ping" });
const hello = (protocolVersion = "2025-11-25") =>
  post({
    ...{ id: 1, method: "initialize" },
    params: { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } },
  });

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

it("refuse a caller that asks without end, and serve others meanwhile", async () => {
  const endpoints = new McpEndpoints({ enabled, hostFor: () => host });
  for (let asked = 0; asked < 200; asked++)
    expect((await endpoints.fetch(ping(), caller("greedy"))).status).toBe(200);
  expect(() => endpoints.fetch(ping(), caller("greedy"))).toThrow("Too many MCP requests");
  expect((await endpoints.fetch(ping(), caller("other"))).status).toBe(200);
  vi.setSystemTime(Date.now() + 20);
  expect((await endpoints.fetch(ping(), caller("greedy"))).status).toBe(200);
});

it("count a caller's addresses with other families as one, and keep a few of them", async () => {
  const hostFor = vi.fn(() => host);
  const endpoints = new McpEndpoints({ enabled, hostFor });
  const families = ["files", "shell", "system", "desktop", "ports"];
  const at = (family: string) => new Request(`https://relay.example/mcp?tools=${family}`, ping());
  for (let asked = 0; asked < 200; asked++)
    expect((await endpoints.fetch(at(families[asked % 2] ?? ""), caller("greedy"))).status).toBe(200);
  expect(() => endpoints.fetch(at("system"), caller("greedy"))).toThrow("Too many MCP requests");
  expect(hostFor).toHaveBeenCalledTimes(2);
  for (const family of [...families, "ports", "files"]) await endpoints.fetch(at(family), caller("other"));
  // The first was closed for the fifth, and is made anew.
  expect(hostFor).toHaveBeenCalledTimes(2 + 6);
});

it("count each message of a batch", async () => {
  const endpoints = new McpEndpoints({ enabled, hostFor: () => host });
  const batch = () =>
    new Request(ping(), {
      body: JSON.stringify(Array.from({ length: 100 }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" }))),
    });
  for (let sent = 0; sent < 2; sent++)
    expect((await endpoints.fetch(batch(), caller("greedy"))).status).toBe(200);
  await expect(async () => endpoints.fetch(batch(), caller("greedy"))).rejects.toThrow(
    "Too many MCP requests",
  );
});

it.each(["params", "in a batch"])("refuse what nests too deeply: %s", async (where) => {
  const endpoints = new McpEndpoints({ enabled, hostFor: () => host });
  const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;
  const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Read","arguments":{"x":${deep}}}}`;
  const body = where === "params" ? message : `[${message}]`;
  const answer = await endpoints.fetch(new Request(ping(), { body }), caller("a"));
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { code: -32_600 } });
});

it("take null arguments as none", async () => {
  const heard: unknown[] = [];
  const answer: McpHost["answer"] = async (_, input) => {
    heard.push(input);
    return { content: [{ type: "text", text: "done" }] };
  };
  const endpoints = new McpEndpoints({ enabled, hostFor: () => ({ ...host, answer }) });
  const call = post({ id: 1, method: "tools/call", params: { name: "list_devices", arguments: null } });
  expect(await (await endpoints.fetch(call, caller("a"))).text()).toContain("done");
  expect(heard).toEqual([{}]);
});

it.each(["", "x".repeat(129)])("answer a tool's name that none can have, without it", async (name) => {
  const endpoints = new McpEndpoints({
    enabled,
    hostFor: () => ({ ...host, answer: async () => undefined }),
  });
  const call = post({ id: 1, method: "tools/call", params: { name, arguments: {} } });
  const text = await (await endpoints.fetch(call, caller("a"))).text();
  expect(text).toContain("INVALID_PARAMETERS: name: must have at");
  expect(text).not.toContain("xxx");
});

it("know a session again that they have forgotten, and none that its client has ended", async () => {
  const first = new McpEndpoints({ enabled, hostFor: () => host });
  const begun = await first.fetch(hello(), caller("a"));
  const session = begun.headers.get("Mcp-Session-Id") ?? "";
  expect(session).toMatch(/^[0-9a-z]{26}\.[\w=-]+$/);
  const list = () => post({ id: 2, method: "tools/list" }, { "Mcp-Session-Id": session });
  // As after a deployment.
  const second = new McpEndpoints({ enabled, hostFor: () => host });
  expect((await second.fetch(list(), caller("a"))).status).toBe(200);
  const end = new Request("https://relay.example/mcp", {
    method: "DELETE",
    headers: { "Mcp-Session-Id": session },
  });
  expect((await second.fetch(end, caller("a"))).status).toBe(200);
  expect((await second.fetch(list(), caller("a"))).status).toBe(404);
});

it.each(["", "made-up", `${"0".repeat(26)}.e30=`, `${"0".repeat(26)}.${"A".repeat(2000)}`, "x.y.z"])(
  "have no session of the name %j",
  async (session) => {
    const endpoints = new McpEndpoints({ enabled, hostFor: () => host });
    const list = post({ id: 2, method: "tools/list" }, { "Mcp-Session-Id": session });
    expect((await endpoints.fetch(list, caller("a"))).status).toBe(404);
  },
);

it("refuse a second request of the same id at the same time, and answer the first", async () => {
  const listed = Promise.withResolvers<[]>();
  const endpoints = new McpEndpoints({ enabled, hostFor: () => ({ ...host, tools: () => listed.promise }) });
  const begun = await endpoints.fetch(hello(), caller("a"));
  const session = { "Mcp-Session-Id": begun.headers.get("Mcp-Session-Id") ?? "" };
  const ask = (method: string) => endpoints.fetch(post({ id: 7, method }, session), caller("a"));
  const first = await ask("tools/list");
  expect((await ask("ping")).status).toBe(400);
  listed.resolve([]);
  expect(await first.text()).toContain('"tools":[]');
  // It is free again.
  expect(await (await ask("ping")).text()).toContain('"id":7');
});

it("take an id again whose request was cancelled or refused", async () => {
  const endpoints = new McpEndpoints({
    enabled,
    hostFor: () => ({ ...host, tools: () => new Promise<never>(() => undefined) }),
  });
  const begun = await endpoints.fetch(hello(), caller("a"));
  const session = { "Mcp-Session-Id": begun.headers.get("Mcp-Session-Id") ?? "" };
  const ask = (message: object, headers = {}) =>
    endpoints.fetch(post(message, { ...session, ...headers }), caller("a"));
  const slow = await ask({ id: 7, method: "tools/list" });
  await ask({ method: "notifications/cancelled", params: { requestId: 7 } });
  expect((await ask({ id: 7, method: "ping" })).status).toBe(200);
  await slow.body?.cancel();
  expect((await ask({ id: 8, method: "ping" }, { Accept: "text/plain" })).status).toBe(406);
  expect((await ask({ id: 8, method: "ping" })).status).toBe(200);
});

it("end the stream of what is cancelled, once all that was asked with it is answered", async () => {
  const answered = Promise.withResolvers<{ content: [] }>();
  const answer: McpHost["answer"] = (name) =>
    name === "slow" ? answered.promise : new Promise(() => undefined);
  const endpoints = new McpEndpoints({ enabled, hostFor: () => ({ ...host, answer }) });
  // Batches are of an earlier version.
  const begun = await endpoints.fetch(hello("2025-03-26"), caller("a"));
  const session = { "Mcp-Session-Id": begun.headers.get("Mcp-Session-Id") ?? "" };
  const call = (id: number, name: string) => ({ id, method: "tools/call", params: { name, arguments: {} } });
  const cancel = (requestId: number) =>
    endpoints.fetch(post({ method: "notifications/cancelled", params: { requestId } }, session), caller("a"));

  const alone = await endpoints.fetch(post(call(1, "never"), session), caller("a"));
  await cancel(1);
  expect(await alone.text()).toBe("");

  const batch = [call(2, "never"), call(3, "slow")].map((one) => ({ jsonrpc: "2.0", ...one }));
  const body = JSON.stringify(batch);
  const together = await endpoints.fetch(new Request(post({}, session), { body }), caller("a"));
  await cancel(2);
  answered.resolve({ content: [] });
  expect(await together.text()).toMatch(/^event: message\ndata: .*"id":3[^\n]*\n\n$/);
});

it.each(["text/event-stream", "*/*", "text/*, application/xml", undefined])(
  "answer who accepts %s",
  async (accept) => {
    const endpoints = new McpEndpoints({ enabled, hostFor: () => host });
    const asking = (request: Request) => {
      if (accept === undefined) request.headers.delete("Accept");
      else request.headers.set("Accept", accept);
      return endpoints.fetch(request, caller("a"));
    };
    const begun = await asking(hello());
    expect(begun.status).toBe(200);
    const session = { "Mcp-Session-Id": begun.headers.get("Mcp-Session-Id") ?? "" };
    for (const headers of [{}, session])
      expect(await (await asking(post({ id: 2, method: "tools/list" }, headers))).text()).toContain('"id":2');
  },
);

it("keep few sessions of each caller, and any of them goes on", async () => {
  const endpoints = new McpEndpoints({ enabled, hostFor: () => host });
  const begun = await endpoints.fetch(hello(), caller("a"));
  const session = begun.headers.get("Mcp-Session-Id") ?? "";
  for (let others = 0; others < 40; others++) await endpoints.fetch(hello(), caller("a"));
  const list = post({ id: 2, method: "tools/list" }, { "Mcp-Session-Id": session });
  expect((await endpoints.fetch(list, caller("a"))).status).toBe(200);
});

it("serve the caller that asks, whoever asked before", async () => {
  const asked: string[] = [];
  const hostFor = ({ grant }: Caller): McpHost => ({
    ...host,
    async tools() {
      asked.push(grant);
      return [];
    },
  });
  const endpoints = new McpEndpoints({ enabled, hostFor });
  for (const grant of ["a", "b", "a"]) {
    const answer = await endpoints.fetch(post({ id: 1, method: "tools/list" }), caller(grant));
    await answer.text();
  }
  expect(asked).toEqual(["a", "b", "a"]);
});

it("answer an error that is none of ours without its words", async () => {
  const failing: McpHost = { ...host, tools: () => Promise.reject(new Error("secret of the house")) };
  const endpoints = new McpEndpoints({ enabled, hostFor: () => failing });
  const answer = await endpoints.fetch(post({ id: 1, method: "tools/list" }), caller("a"));
  const text = await answer.text();
  expect(text).toContain("Something went wrong on our side");
  expect(text).not.toContain("secret");
});

it("end what a client listens to when its token ends", async () => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  const endpoints = new McpEndpoints({ enabled, hostFor: () => host });
  const brief = { ...caller("a"), expires: Date.now() + 30_000 };
  const begun = await endpoints.fetch(hello(), brief);
  const session = begun.headers.get("Mcp-Session-Id") ?? "";
  const headers = { "Mcp-Session-Id": session, Accept: "text/event-stream" };
  const news = await endpoints.fetch(new Request("https://relay.example/mcp", { headers }), brief);
  const ended = news.text();
  vi.advanceTimersByTime(30_000);
  expect(await ended).toBe("");
});

/** A request of the protocol's version without sessions, whose headers repeat what is in the body. */
function modern(method: string, params: object, headers: Record<string, string> = {}): Request {
  const of = "io.modelcontextprotocol";
  const meta = {
    [`${of}/protocolVersion`]: "2026-07-28",
    [`${of}/clientInfo`]: { name: "test", version: "1" },
    [`${of}/clientCapabilities`]: {},
  };
  return post(
    { id: 1, method, params: { ...params, _meta: meta } },
    { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, ...headers },
  );
}

it("let nobody share a list of tools between callers", async () => {
  const endpoints = new McpEndpoints({ enabled, hostFor: () => host });
  const text = await (await endpoints.fetch(modern("tools/list", {}), caller("a"))).text();
  expect(text).toContain('"cacheScope":"private"');
  expect(text).not.toContain('"public"');
});

it("refuse headers that name another tool or method, and take no argument from any", async () => {
  const inputs: unknown[] = [];
  const tool = { name: "Bash", inputSchema: { type: "object" as const } };
  const asked: McpHost = {
    ...host,
    tools: async () => [tool],
    target: (input) => {
      inputs.push(input);
      return Promise.reject(new MatrxError({ code: "NOT_FOUND", message: "none", hop: "relay" }));
    },
    answer: async () => undefined,
  };
  const endpoints = new McpEndpoints({ enabled, hostFor: () => asked });
  const call = (headers: Record<string, string>) =>
    endpoints.fetch(
      modern("tools/call", { name: "Bash", arguments: { command: "ls" } }, headers),
      caller("a"),
    );
  for (const headers of [{ "Mcp-Name": "Read" }, { "Mcp-Name": "Bash", "Mcp-Method": "tools/list" }]) {
    const answer = await call(headers);
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: -32020 } }]);
  }
  expect(inputs).toEqual([]);
  const answer = await call({ "Mcp-Name": "Bash", "Mcp-Param-Command": "rm -rf /" });
  expect(await answer.text()).toContain("NOT_FOUND");
  expect(inputs).toEqual([{ command: "ls" }]);
});

it.each([
  ["application/json, text/event-stream", /^\{.*"id":1.*\}$/],
  ["text/event-stream", /^event: message\ndata: \{.*"id":1.*\}\n\n$/],
])("answer at once who accepts %s", async (accept, form) => {
  const endpoints = new McpEndpoints({ enabled, hostFor: () => host });
  const answer = await endpoints.fetch(modern("tools/list", {}, { Accept: accept }), caller("a"));
  expect(accept).toContain(answer.headers.get("Content-Type"));
  expect(await answer.text()).toMatch(form);
});

/** A host whose one device answers when it is told to. */
function slowly() {
  const ended = Promise.withResolvers<CallEnd>();
  const left = Promise.withResolvers<void>();
  const device: McpDevice = {
    ...{ device: "slow", approvalsUrl: undefined, recordUrl: () => undefined },
    openTools: () => Promise.reject(new Error("nobody lists")),
    wait: () => Promise.reject(new Error("nobody waits")),
    cancel: () => Promise.reject(new Error("nobody cancels")),
    call(_, __, signal) {
      signal.addEventListener("abort", () => left.resolve());
      return ended.promise;
    },
  };
  const slow: McpHost = {
    ...host,
    target: async (input) => ({ device, input, naming: {} }),
    answer: async () => undefined,
  };
  const endpoints = new McpEndpoints({ enabled, hostFor: () => slow });
  const call = modern("tools/call", { name: "Read", arguments: {} }, { "Mcp-Name": "Read" });
  return { endpoints, ended, left: left.promise, begun: endpoints.fetch(call, caller("a")) };
}

it("begin a response whose answer takes long, and keep it alive until then", async () => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  const { ended, begun } = slowly();
  await vi.advanceTimersByTimeAsync(1000);
  const response = await begun;
  expect([response.status, response.headers.get("Content-Type")]).toEqual([200, "text/event-stream"]);
  const text = response.text();
  await vi.advanceTimersByTimeAsync(2000);
  ended.resolve({ kind: "answer", answer: { type: "success", output: "it was read" } });
  expect(await text).toMatch(/^(?:: keepalive\n\n){2}event: message\ndata: \{.*it was read.*\}\n\n$/);
});

it("stop a call whose client leaves before its answer", async () => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  const { left, begun } = slowly();
  await vi.advanceTimersByTimeAsync(1000);
  await (await begun).body?.cancel();
  await left;
});

it("end the response to a caller whose grant ends, without a message", async () => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  const { endpoints, left, begun } = slowly();
  await vi.advanceTimersByTimeAsync(1000);
  const text = (await begun).text();
  endpoints.revoke("a" as GrantId);
  await left;
  expect(await text).toMatch(/^(?:: keepalive\n\n)+$/);
});
