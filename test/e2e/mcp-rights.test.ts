/** What MCP clients may do: grants, questions to a person, and the end of a token, on a real relay and agent. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Connecting, connectMcp, ERAS, type Era, textOf } from "./mcp-client.ts";
import { type Ai, Person } from "./person.ts";
import { fileIn, type Rig, startRig } from "./rig.ts";

let rig: Rig;
let person: Person;
let ai: Ai;
beforeAll(async () => {
  rig = await startRig();
  person = await Person.signIn(rig);
  ai = await person.grant();
});
afterAll(() => rig.stop());

const connect = (era: Era, path: string, more: Partial<Connecting> = {}) =>
  connectMcp(era, { url: new URL(path, rig.relay.url), token: ai.token, ...more });

describe.each(ERAS)("a client of the era %s", (era) => {
  it("hears that a person is asked, and gets the result once it is allowed", async () => {
    await using client = await connect(era, `/mcp/d/${rig.device}`);
    const file = fileIn(rig);
    const told = Promise.withResolvers<string>();
    const call = client.callTool(
      { name: "Write", arguments: { file_path: file, content: "hello" } },
      { onprogress: ({ message = "" }) => told.resolve(message) },
    );
    expect(await told.promise).toMatch(/^Waiting for a person to allow this at http.*: Create /);
    expect(existsSync(file)).toBe(false);
    await person.answer(call, { decision: "allow" });
    expect((await call).isError).toBeFalsy();
    expect(readFileSync(file, "utf8")).toBe("hello");
  });

  it("is told of a no, and with what words", async () => {
    await using client = await connect(era, "/mcp");
    const file = fileIn(rig);
    const call = client.callTool({
      name: "Write",
      arguments: { device: rig.device, file_path: file, content: "hello" },
    });
    await person.answer(call, { decision: "deny", note: "not today" });
    expect(await call).toMatchObject({ isError: true });
    expect(textOf(await call)).toMatch(/^APPROVAL_DENIED: .*not today/s);
    expect(existsSync(file)).toBe(false);
  });

  it("shows its person the page where it is decided, and then has the result of the same call", async () => {
    const file = fileIn(rig);
    const asked: string[] = [];
    await using client = await connect(era, `/mcp/d/${rig.device}`, {
      onUrl: async (url, message) => {
        asked.push(url, message);
        await person.decide(await person.question(), { decision: "allow" });
        return "accept";
      },
    });
    const done = await client.callTool({ name: "Write", arguments: { file_path: file, content: "once" } });
    expect(done.isError, textOf(done)).toBeFalsy();
    expect(asked).toEqual([
      expect.stringMatching(/^http/),
      expect.stringContaining("waits for you to allow it"),
    ]);
    expect(readFileSync(file, "utf8")).toBe("once");
    expect(await person.waiting()).toEqual([]);
  });

  it("cancels a call that its person does not want to look at", async () => {
    const file = fileIn(rig);
    await using client = await connect(era, `/mcp/d/${rig.device}`, { onUrl: async () => "decline" });
    const done = await client.callTool({ name: "Write", arguments: { file_path: file, content: "x" } });
    expect(textOf(done)).toMatch(/^CANCELLED/);
    expect(await person.waiting()).toEqual([]);
    expect(existsSync(file)).toBe(false);
  });

  it("waits for a call by its name, and for nobody else's", async () => {
    await using client = await connect(era, `/mcp/d/${rig.device}`);
    const file = fileIn(rig);
    const stop = new AbortController();
    const call = client.callTool(
      { name: "Write", arguments: { file_path: file, content: "x" } },
      { signal: stop.signal },
    );
    const { call: name } = await person.question();
    const waiting = client.callTool({ name: "wait_call", arguments: { call: name } });
    const other = await person.grant();
    await using stranger = await connect(era, `/mcp/d/${rig.device}`, { token: other.token });
    const stolen = await stranger.callTool({ name: "wait_call", arguments: { call: name } });
    expect(textOf(stolen)).toMatch(/^NOT_FOUND/);
    await person.decide(await person.question(), { decision: "allow" });
    expect(textOf(await waiting)).toBe(textOf(await call));
    expect(existsSync(file)).toBe(true);
  });

  it("lists only what its grant allows, and does no more", async () => {
    const reader = await person.grant({ effects: ["read"], tools: ["Read", "ListDirectory"] });
    await using client = await connect(era, `/mcp/d/${rig.device}`, { token: reader.token });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(["ListDirectory", "Read", "wait_call"]);
    const done = await client.callTool({ name: "Bash", arguments: { command: "echo no" } });
    expect(textOf(done)).toMatch(/^PERMISSION_DENIED/);
    const secret = await client.callTool({
      name: "Read",
      arguments: { file_path: join(rig.dataDir, "keys.json") },
    });
    expect(textOf(secret)).toMatch(/^PERMISSION_DENIED/);
  });

  it("goes on after its relay was started again", async () => {
    await using client = await connect(era, `/mcp/d/${rig.device}`);
    await client.listTools();
    await rig.restartRelay(() => undefined);
    await expect.poll(() => rig.isOnline().catch(() => false), { timeout: 20_000 }).toBe(true);
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(3);
  });
});

it.each(["/mcp", "/mcp/d/"])(
  "answers 401 with a challenge to no token, a false one and an ended one: %s",
  async (base) => {
    const ended = await person.grant();
    await person.ask("DELETE", `/v1/tokens/${ended.id}`);
    const url = rig.relay.url + (base === "/mcp" ? base : base + rig.device);
    for (const token of [undefined, "made-up", ended.token]) {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
      });
      expect(response.status).toBe(401);
      expect(response.headers.get("WWW-Authenticate")).toMatch(/^Bearer /);
    }
  },
);

it("a question's state is worth nothing to others, made up, or a second time", async () => {
  const file = fileIn(rig);
  await using client = await connect("auto", `/mcp/d/${rig.device}`);
  const call = client.callTool({ name: "Write", arguments: { file_path: file, content: "once" } });
  const { call: name } = await person.question();
  const other = await person.grant();
  expect(await answered(other, name, "decline")).toMatch(/^NOT_FOUND/);
  expect(await answered(ai, "made up", "accept")).toMatch(/^INVALID_PARAMETERS: requestState/);
  expect((await person.question()).call).toBe(name);
  await person.decide(await person.question(), { decision: "allow" });
  const done = textOf(await call);
  writeFileSync(file, "changed since");
  expect(await answered(ai, name, "accept")).toBe(done);
  expect(await answered(ai, name, "decline")).toBe(done);
  expect(readFileSync(file, "utf8")).toBe("changed since");
});

/** What a client is told that says that its person was asked about a call. */
async function answered({ token }: Ai, requestState: string, action: "accept" | "decline"): Promise<string> {
  const of = "io.modelcontextprotocol";
  const meta = {
    [`${of}/protocolVersion`]: "2026-07-28",
    [`${of}/clientInfo`]: { name: "test", version: "1" },
    [`${of}/clientCapabilities`]: { elicitation: { url: {} } },
  };
  const params = {
    ...{ name: "Write", arguments: { file_path: fileIn(rig), content: "twice" } },
    ...{ inputResponses: { approval: { action } }, requestState, _meta: meta },
  };
  const response = await fetch(new URL(`/mcp/d/${rig.device}`, rig.relay.url), {
    method: "POST",
    headers: {
      ...{ Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...{ Accept: "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28" },
      ...{ "Mcp-Method": "tools/call", "Mcp-Name": "Write" },
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  // JSON, or the event of an answer that took long.
  const data = (await response.text()).split("data: ").at(-1) ?? "{}";
  const { result } = JSON.parse(data) as { result?: { content: { type: string; text: string }[] } };
  return result?.content[0]?.text ?? `${response.status} ${data}`;
}

it("tells nobody whether another device exists", async () => {
  const answers = await Promise.all(
    ["laptop-0000000000", "nothing"].map(async (device) => {
      const response = await fetch(`${rig.relay.url}/mcp/d/${device}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${ai.token}` },
        body: "{}",
      });
      return response.status;
    }),
  );
  expect(answers).toEqual([404, 404]);
});

it("answers a program without a session", async () => {
  const response = await fetch(`${rig.relay.url}/mcp`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      Authorization: `Bearer ${ai.token}`,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("list_devices");
});

it.each([
  ["no JSON", "{", "application/json", 400],
  ["another type", "{}", "text/plain", 415],
  ["nested too deeply", deepCall(5000), "application/json", 400],
  ["too much", `{"x":"${"x".repeat(5 * 1024 * 1024)}"}`, "application/json", 413],
])("refuses a body that is %s", async (_what, body, type, status) => {
  for (const path of ["/mcp", `/mcp/d/${rig.device}`]) {
    const response = await fetch(rig.relay.url + path, {
      method: "POST",
      duplex: "half",
      headers: {
        "Content-Type": type,
        Accept: "application/json, text/event-stream",
        Authorization: `Bearer ${ai.token}`,
      },
      body: new Blob([body]).stream(),
    } as RequestInit);
    await response.text();
    expect(response.status, path).toBe(status);
  }
});

/** A call that no device would take. */
function deepCall(levels: number): string {
  const input = `{"device":"x","file_path":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Read","arguments":${input}}}`;
}
