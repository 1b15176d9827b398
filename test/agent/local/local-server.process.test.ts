import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect, createServer } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { WebSocket } from "ws";
import { homeOf } from "../../../agent/config/app-dirs.ts";
import { listenAt } from "../../../agent/local/loopback.ts";
import { startLocalServer } from "../../../agent/local/server.ts";
import { localToken } from "../../../agent/local/token.ts";
import { toolDefinitionsSchema } from "../../../shared/api.ts";
import { TIMES } from "../../../shared/limits.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { LOCALHOST } from "../../helpers/localhost.ts";
import { silentLog } from "../core/small-tools.ts";
import { bearer, json, PAGE, serve, TOKEN } from "./serve.ts";

function invoke(url: string, body: unknown, headers: Record<string, string> = json): Promise<Response> {
  return fetch(`${url}/tools/invoke`, { method: "POST", headers, body: JSON.stringify(body) });
}

/** A request with headers that fetch does not let set. */
async function raw(port: number, headers: Record<string, string>, path = "/tools/list") {
  const request = httpRequest({ host: "127.0.0.1", port, path, headers });
  request.end();
  const [response] = await once(request, "response");
  let text = "";
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, headers: response.headers, body: text && JSON.parse(text) };
}

test.each(LOCALHOST)("localhost is this server at %s too, by REST and WebSocket", async (address) => {
  const { port } = await serve();
  const url = `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
  expect((await fetch(`${url}/tools/list`, { headers: bearer })).status).toBe(200);
  const { status } = await open(url);
  expect(status).toBeUndefined();
  await expect(listenAt(createServer(), address, port)).rejects.toMatchObject({ code: "EADDRINUSE" });
});

test.each(LOCALHOST)("no server starts on a port that another program has at %s", async (address) => {
  const other = createServer();
  onTestFinished(() => void other.close());
  const port = await listenAt(other, address, 0);
  await expect(serve({ port })).rejects.toMatchObject({ code: "UNAVAILABLE" });
  for (const free of LOCALHOST.filter((one) => one !== address))
    await expect(fetch(`http://${free.includes(":") ? `[${free}]` : free}:${port}/`)).rejects.toThrow();
});

async function open(
  url: string,
  { protocols = [] as string[], headers = bearer as Record<string, string>, query = "" } = {},
) {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws${query}`, protocols, { headers });
  const frames: Record<string, unknown>[] = [];
  const waiting: (() => void)[] = [];
  socket.on("message", (data) => {
    frames.push(JSON.parse(data.toString()));
    waiting.shift()?.();
  });
  onTestFinished(() => socket.terminate());
  const next = async () => {
    while (frames.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    return frames.shift() ?? {};
  };
  const refused = once(socket, "unexpected-response").then(([, response]) => response.statusCode as number);
  const opened = once(socket, "open").then(() => undefined);
  const status = await Promise.race([opened, refused]);
  const send = (frame: unknown) => socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  return { socket, status, next, send, frames };
}

test("tool definitions for models, of what the machine's own policy leaves", async () => {
  const { url, policy } = await serve();
  const list = async (query: string) => {
    const response = await fetch(`${url}/tools/list${query}`, { headers: bearer });
    return { status: response.status, body: await response.json() };
  };
  const names = async () => {
    const { body } = await list("?format=anthropic");
    return toolDefinitionsSchema.parse(body).tools.map((tool) => "name" in tool && tool.name);
  };
  expect(await names()).toEqual(["local_bash", "local_grep", "local_read", "local_write"]);
  expect((await list("?format=openai")).body).toMatchObject({
    format: "openai",
    tools: [
      { type: "function", function: { name: "local_bash", parameters: { type: "object" } } },
      {},
      {},
      {},
    ],
  });
  expect(await list("?format=xml")).toMatchObject({
    status: 400,
    body: { code: "INVALID_PARAMETERS", hop: "agent" },
  });
  policy.allowed_tools = ["Read"];
  expect(await names()).toEqual(["local_read"]);
  const called = await invoke(url, { tool: "local_read", input: { file_path: "/a" } });
  expect(await called.json()).toMatchObject({ type: "success", output: "read /a" });
});

test("the guide's REST: list, invoke, in its shapes", async () => {
  const { url } = await serve();
  const list = await fetch(`${url}/tools/list`, { headers: bearer });
  expect(await list.json()).toEqual({ tools: ["Bash", "Grep", "Read", "Write"] });
  const answer = await invoke(url, { tool: "Read", input: { file_path: "/a" } });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({
    ...{ type: "success", output: "read /a", image: null, device: "box", call: expect.any(String) },
    metadata: { cwd: expect.any(String) },
  });
  const failed = await invoke(url, { tool: "Bash", input: { command: "refuse" } });
  expect(failed.status).toBe(200);
  expect(await failed.json()).toMatchObject({ type: "error", code: "TOOL_EXECUTION_FAILED", image: null });
});

test.each([
  ["{", "INVALID_MESSAGE"],
  ["[]", "INVALID_MESSAGE"],
  ['{"input":{}}', "INVALID_PARAMETERS"],
  ['{"tool":"Read","input":7}', "INVALID_PARAMETERS"],
  ['{"tool":"Read","input":"{}"}', "INVALID_PARAMETERS"],
  ['{"tool":"Read","timeout_ms":0}', "INVALID_PARAMETERS"],
  [`{"tool":"Read","input":${"[".repeat(80)}${"]".repeat(80)}}`, "INVALID_MESSAGE"],
])("a malformed call is an error in the guide's shape (%#)", async (body, code) => {
  const { url } = await serve();
  const response = await fetch(`${url}/tools/invoke`, { method: "POST", headers: json, body });
  expect(response.status).toBe(400);
  expect(response.headers.get("Content-Type")).toBe("application/json");
  expect(await response.json()).toMatchObject({
    ...{ type: "error", output: expect.any(String), image: null },
    ...{ code, hint: expect.any(String), hop: "agent" },
  });
});

test("a body that is too large is a problem: it is not read to its end", async () => {
  const { url } = await serve();
  const body = `{"tool":"Read","input":{"file_path":"${"x".repeat(5_000_000)}"}}`;
  const response = await fetch(`${url}/tools/invoke`, { method: "POST", headers: json, body });
  expect(response.status).toBe(413);
  expect(response.headers.get("Content-Type")).toBe("application/problem+json");
  expect(await response.json()).toMatchObject({ code: "PAYLOAD_TOO_LARGE", status: 413, hop: "agent" });
});

test("a call that takes long is answered in the guide's shape, with white space before it", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { url, runs } = await serve();
  const input = { command: "sleep", ms: TIMES.streamKeepAlive + 2000 };
  const answered = invoke(url, { tool: "Bash", input, timeout_ms: 60_000 });
  await vi.waitUntil(() => runs.has("Bash"));
  await vi.advanceTimersByTimeAsync(TIMES.streamKeepAlive);
  const response = await answered;
  expect(response.status).toBe(200);
  await vi.advanceTimersByTimeAsync(2000);
  const call = response.headers.get("Matrx-Call");
  const text = await response.text();
  expect(text).toMatch(/^ \{/);
  expect(JSON.parse(text)).toMatchObject({ type: "success", output: `slept ${input.ms}`, image: null, call });
});

test("other paths and other types are problems that help", async () => {
  const { url } = await serve();
  const missing = await fetch(`${url}/tool`, { headers: bearer });
  expect(missing.status).toBe(404);
  const form = await invoke(url, {}, { ...bearer, "Content-Type": "text/plain" });
  expect(await form.json()).toMatchObject({ code: "INVALID_MESSAGE" });
  expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: "ok" });
});

test("without the token nothing is listed, run or opened", async () => {
  const { url, runs } = await serve();
  for (const headers of [
    {} as Record<string, string>,
    { Authorization: "Bearer wrong" },
    { Authorization: "Basic abc" },
  ]) {
    const response = await fetch(`${url}/tools/list`, { headers });
    expect(response.status).toBe(401);
    const isWrong = headers.Authorization === "Bearer wrong";
    expect(response.headers.get("WWW-Authenticate")).toBe(
      `Bearer realm="matrx"${isWrong ? ', error="invalid_token"' : ""}`,
    );
    expect((await invoke(url, { tool: "Read", input: { file_path: "/a" } }, headers)).status).toBe(401);
    expect((await open(url, { headers })).status).toBe(401);
  }
  expect((await open(url, { headers: {}, query: `?token=${TOKEN}` })).status).toBe(401);
  expect(runs.size).toBe(0);
});

test("calls above the rate of the machine's own policy are told how long to wait, by REST and WebSocket", async () => {
  const { url, policy, runs } = await serve();
  policy.rates = { calls_per_minute: 2 };
  const read = () =>
    fetch(`${url}/tools/Read`, { method: "POST", headers: json, body: '{"file_path":"/a"}' });
  expect([(await read()).status, (await read()).status]).toEqual([200, 200]);
  const refused = await read();
  const problem = (await refused.json()) as { metadata: { retry_after_ms: number } };
  expect([refused.status, problem]).toMatchObject([429, { code: "RATE_LIMITED", hop: "agent" }]);
  const { retry_after_ms: wait } = problem.metadata;
  expect(wait).toBeGreaterThan(0);
  expect(refused.headers.get("Retry-After")).toBe(String(Math.ceil(wait / 1000)));
  const caller = await open(url);
  caller.send({ id: "1", tool: "Read", input: { file_path: "/a" } });
  expect(await caller.next()).toMatchObject({
    ...{ id: "1", code: "RATE_LIMITED", hint: expect.stringMatching(/^Try again in \d+ seconds?; /) },
    metadata: { retry_after_ms: expect.any(Number) },
  });
  expect(runs.get("Read")).toBe(2);
});

test("a WebSocket may carry the token in its subprotocol", async () => {
  const { url } = await serve();
  const only = await open(url, { headers: {}, protocols: [`bearer.${TOKEN}`] });
  only.send({ action: "ping" });
  expect(await only.next()).toEqual({ type: "pong" });
  const v1 = await open(url, { headers: {}, protocols: ["matrx.v1", `bearer.${TOKEN}`] });
  expect(v1.socket.protocol).toBe("matrx.v1");
  expect(await v1.next()).toEqual({
    type: "hello",
    protocol: 1,
    session: expect.stringMatching(/^[0-9a-f]{16}$/),
    device: "box",
  });
});

test("a foreign Host or Origin is refused, before the token is looked at", async () => {
  const { port, url } = await serve({ asksToken: false });
  const own = `localhost:${port}`;
  expect((await raw(port, { Host: own })).status).toBe(200);
  expect((await raw(port, { Host: `[::1]:${port}` })).status).toBe(200);
  for (const host of ["evil.example", `evil.example:${port}`, "localhost", `localhost:${port + 1}`]) {
    expect((await raw(port, { Host: host })).status).toBe(403);
  }
  for (const origin of [
    "https://evil.example",
    "null",
    `http://localhost:${port + 1}`,
    `${PAGE}.evil.example`,
  ]) {
    expect((await raw(port, { Host: own, Origin: origin })).status).toBe(403);
    expect((await open(url, { headers: { Origin: origin } })).status).toBe(403);
  }
  for (const origin of [PAGE, `http://localhost:${port}`]) {
    const { status, headers } = await raw(port, { Host: own, Origin: origin });
    expect(status).toBe(200);
    expect(headers["access-control-allow-origin"]).toBe(origin);
    expect((await open(url, { headers: { Origin: origin } })).status).toBeUndefined();
  }
});

test("a preflight of a listed page is answered without the token, of others refused", async () => {
  const { url } = await serve();
  const preflight = (origin: string) =>
    fetch(`${url}/tools/invoke`, { method: "OPTIONS", headers: { Origin: origin } });
  const allowed = await preflight(PAGE);
  expect(allowed.status).toBe(204);
  expect(allowed.headers.get("Access-Control-Allow-Headers")).toContain("Authorization");
  expect((await preflight("https://evil.example")).status).toBe(403);
});

test("the guide's WebSocket: calls at once, answers by id, ping", async () => {
  const { url } = await serve();
  const { send, next } = await open(url);
  send({ id: "slow", tool: "Bash", input: { command: "sleep", ms: 100 } });
  send({ id: "fast", tool: "Read", input: { file_path: "/a" } });
  send({ action: "ping" });
  expect(await next()).toEqual({ type: "pong" });
  expect(await next()).toMatchObject({ id: "fast", type: "success", output: "read /a" });
  expect(await next()).toMatchObject({ id: "slow", type: "success", output: "slept 100" });
});

test("a caller that goes ends its reads; its effects go on, unless it said otherwise", async () => {
  const { url, runs, calls } = await serve();
  const started = vi.spyOn(calls, "start");
  const { send, next, socket } = await open(url);
  const key = { idempotency_key: "k1" };
  const effect = { id: "e", tool: "Bash", input: { command: "sleep", ms: 100 } };
  const ending = { id: "f", tool: "Bash", input: { command: "sleep", ms: 4000 }, idempotency_key: "k2" };
  send({ id: "r", tool: "Grep", input: {}, cancel_on_disconnect: false });
  send({ ...effect, ...key });
  send({ ...ending, cancel_on_disconnect: true });
  send({ action: "ping" });
  await next();
  socket.close();
  const read = await started.mock.results[0]?.value.outcome;
  expect(read.header).toMatchObject({ status: "cancelled" });
  const again = await open(url);
  again.send({ ...effect, ...key });
  expect(await again.next()).toMatchObject({ id: "e", type: "success", output: "slept 100" });
  again.send(ending);
  expect(await again.next()).toMatchObject({ id: "f", code: "CANCELLED" });
  expect(runs.get("Bash")).toBe(2);
});

test("an idempotency key runs a call once, and refuses another input", async () => {
  const { url, runs } = await serve();
  const write = async (content: string) => {
    const response = await invoke(url, {
      tool: "Write",
      input: { file_path: "/a", content },
      idempotency_key: "k",
    });
    return response.json();
  };
  const first = await write("x");
  expect(await write("x")).toEqual(first);
  expect(await write("y")).toMatchObject({ type: "error", code: "CONFLICT" });
  expect(runs.get("Write")).toBe(1);
});

test("bytes that are no HTTP do not stop it", async () => {
  const { port, url } = await serve();
  const socket = connect(port, "127.0.0.1");
  socket.end("\u0000\u0001 nonsense\r\n\r\n");
  await once(socket.resume(), "close");
  expect((await fetch(`${url}/health`)).status).toBe(200);
});

test("a port in use is said in one sentence", async () => {
  const { port, calls, hub } = await serve();
  const options = { host: "127.0.0.1", token: TOKEN, allowedOrigins: [], log: silentLog, port, calls, hub };
  await expect(startLocalServer(options)).rejects.toMatchObject({
    message: expect.stringMatching(
      new RegExp(`^Port ${port} is in use by \\S.* \\(process ${process.pid}\\)$`),
    ),
  });
});

test("the token is made once", () => {
  const home = homeOf({ MATRX_HOME: temporaryFolder() });
  const token = localToken(home);
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(localToken(home)).toBe(token);
});

test("another address of this machine is the server's own name, too", async () => {
  const { url } = await serve({ host: "127.0.0.2" });
  expect(url).toContain("//127.0.0.2:");
  const list = await fetch(`${url}/tools/list`, { headers: { ...bearer, Origin: url } });
  expect(list.status).toBe(200);
});

test("a caller that does not read is let go before its answers fill the memory", async () => {
  const { url, calls } = await serve();
  const cancelled = vi.spyOn(calls, "cancel");
  const { socket, send, frames } = await open(url);
  socket.pause();
  // It waits until it is stopped: the end of its connection does that.
  const waits = { id: "waits", tool: "Bash", input: { command: "sleep", ms: 60_000 }, timeout_ms: 60_000 };
  send({ ...waits, cancel_on_disconnect: true });
  for (let n = 0; n < 40; n++) send({ id: `${n}`, tool: "Bash", input: { command: "big 2000000" } });
  await expect.poll(() => cancelled).toHaveBeenCalled();
  const closed = once(socket, "close");
  socket.on("error", () => undefined);
  socket.resume();
  await closed;
  expect(frames.length).toBeLessThan(40);
});

test.each([
  ["PUT", "/v1/devices/box/files/tmp/a"],
  ["GET", "/files/tmp/a"],
  ["POST", "/v1/devices/box/uploads"],
  ["PATCH", "/uploads/upload_0123456789abcdefghjk"],
])("bytes of files are the relay's: %s %s is refused, and says so", async (method, path) => {
  const { url } = await serve();
  const response = await fetch(url + path, {
    method,
    headers: bearer,
    ...(method !== "GET" && { body: "bytes" }),
  });
  expect([response.status, await response.json()]).toMatchObject([
    404,
    { code: "NOT_FOUND", hop: "agent", hint: expect.stringContaining("the relay's routes for files") },
  ]);
});
