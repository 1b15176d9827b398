/** Events of this machine's own programs, and routes that are gone: the guide's Legacy Routes. */
import { type ToCaller, toCallerSchema } from "@matrx/shared/caller/to-caller.ts";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { eventListSchema } from "../../../shared/api.ts";
import { modelNameOf } from "../../../shared/effects.ts";
import { LIMITS } from "../../../shared/limits.ts";
import { json, serve, TOKEN } from "./serve.ts";

const triggeredSchema = z.strictObject({
  id: z.uuid(),
  event_type: z.string(),
  timestamp: z.string(),
  relay: z.string(),
});

function post(url: string, body: unknown, headers: Record<string, string> = json): Promise<Response> {
  return fetch(`${url}/trigger`, {
    method: "POST",
    headers,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

const get = (url: string) => fetch(url, { headers: { Authorization: `Bearer ${TOKEN}` } });

test("the health check says what this is, and nothing of the machine", async () => {
  const { url } = await serve();
  const response = await fetch(`${url}/`);
  expect(await response.json()).toEqual({
    status: "ok",
    name: "matrx",
    version: expect.stringMatching(/^\d+\./),
  });
});

test("any JSON object is an event of a browser, and is kept", async () => {
  const { url } = await serve();
  const answer = await post(url, { url: "https://a.example", title: "A page" });
  expect(answer.status).toBe(200);
  const { id, ...rest } = triggeredSchema.parse(await answer.json());
  expect(rest).toEqual({ event_type: "trigger", timestamp: expect.any(String), relay: "none" });
  await post(url, { event_type: "tab_closed", severity: "warning", data: { tab: 7 }, more: true });
  await post(url, { data: "text" });
  const list = eventListSchema.parse(await (await get(`${url}/events`)).json());
  expect(list).toMatchObject({
    device: "box",
    events: [
      { id, event_type: "trigger", severity: "info", data: { url: "https://a.example", title: "A page" } },
      { event_type: "tab_closed", severity: "warning", data: { tab: 7, more: true }, open: false },
      { data: { data: "text" } },
    ],
  });
  const after = eventListSchema.parse(await (await get(`${url}/events?after=${id}&limit=1`)).json());
  expect(after.events).toMatchObject([{ event_type: "tab_closed" }]);
});

test("a condition is open until it is over", async () => {
  const { url, hub } = await serve();
  const down = { type: "service_down", severity: "critical", key: "wiki", data: {} } as const;
  const open = async () => {
    const { events } = eventListSchema.parse(await (await get(`${url}/events`)).json());
    return events.map((event) => event.open);
  };
  hub.emit(down);
  hub.emit({ ...down, key: "nas" });
  expect(await open()).toEqual([true, true]);
  hub.emit({ ...down, resolved: true });
  expect(await open()).toEqual([false, true, false]);
});

test.each([
  ["[]", 400, "INVALID_MESSAGE"],
  ["{", 400, "INVALID_MESSAGE"],
  ['{"event_type":""}', 400, "INVALID_PARAMETERS"],
  [`{"event_type":"${"x".repeat(65)}"}`, 400, "INVALID_PARAMETERS"],
  ['{"severity":"loud"}', 400, "INVALID_PARAMETERS"],
  [`{"data":{"text":"${"x".repeat(LIMITS.eventDataBytes)}"}}`, 413, "PAYLOAD_TOO_LARGE"],
  [`{"a":${"[".repeat(80)}${"]".repeat(80)}}`, 400, "INVALID_MESSAGE"],
])("what is no event is refused (%#)", async (body, status, code) => {
  const { url, hub } = await serve();
  const response = await post(url, body);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ code, hint: expect.any(String), hop: "agent" });
  expect(hub.recent()).toEqual([]);
});

test("fields that steer conditions are data here: no page ends an alarm of the disk", async () => {
  const { url, hub } = await serve();
  await post(url, { event_type: "low_disk_space", key: "/", resolved: true, __proto__x: 1 });
  const [event] = hub.recent();
  expect(event).not.toHaveProperty("key");
  expect(event).not.toHaveProperty("resolved");
  expect(event?.data).toEqual({ key: "/", resolved: true, __proto__x: 1 });
});

test("who has no token, or is a form of some page, neither reports nor reads", async () => {
  const { url, hub } = await serve();
  expect((await post(url, {}, { "Content-Type": "application/json" })).status).toBe(401);
  expect((await fetch(`${url}/events`)).status).toBe(401);
  expect((await post(url, "{}", { ...json, "Content-Type": "text/plain" })).status).toBe(400);
  expect((await post(url, {}, { ...json, Origin: "https://evil.example" })).status).toBe(403);
  expect(hub.recent()).toEqual([]);
});

test.each([
  ["GET", "/system/info", "SystemInfo"],
  ["GET", "/files", "ListDirectory"],
  ["POST", "/screenshot", "Screenshot"],
  ["GET", "/logs", "SystemLog"],
  ["POST", "/generate-directory-structure/text", "DirectoryTree"],
  ["POST", "/generate-directory-structure/json", "DirectoryTree"],
  ["POST", "/generate-directory-structure/zip", "DirectoryTree"],
  ["GET", "/download/small-file", "Read"],
  ["GET", "/download/large-file", "Read"],
  ["GET", "/download/generated-file", "Read"],
  ["GET", "/db-data", "MCP server"],
])("%s %s of the guide says what does it now: %s", async (method, path, says) => {
  if (says !== "MCP server") expect(modelNameOf(says)).toBeDefined();
  const { url } = await serve();
  const response = await fetch(`${url}${path}?x=1`, { method, headers: json });
  expect(response.status).toBe(404);
  expect(response.headers.get("Content-Type")).toBe("application/problem+json");
  expect(await response.json()).toMatchObject({ code: "NOT_FOUND", hint: expect.stringContaining(says) });
  expect((await fetch(`${url}${path}`, { method })).status).toBe(401);
});

test("what was never there says what is", async () => {
  const { url } = await serve();
  const { hint } = z.object({ hint: z.string() }).parse(await (await get(`${url}/nothing`)).json());
  for (const path of ["/docs", "/openapi.json"]) expect(hint).toContain(path);
});

test("a WebSocket of matrx.v1 that asked gets events, from an earlier one or from now on", async () => {
  const { url, hub } = await serve();
  const first = hub.emit({ type: "trigger", severity: "info", data: { n: 1 } });
  hub.emit({ type: "trigger", severity: "info", data: { n: 2 } });
  const listen = async (after?: string) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, ["matrx.v1", `bearer.${TOKEN}`]);
    onTestFinished(() => socket.close());
    const frames: ToCaller[] = [];
    const heard = (count: number) => expect.poll(() => frames).toHaveLength(count);
    socket.onmessage = ({ data }) => frames.push(toCallerSchema.parse(JSON.parse(data)));
    socket.onopen = () => {
      socket.send(JSON.stringify({ action: "events", after }));
      socket.send(JSON.stringify({ action: "ping" }));
    };
    await expect.poll(() => frames.at(-1)?.type).toBe("pong");
    return { socket, frames, heard };
  };
  const now = await listen();
  const earlier = await listen(first.id);
  const all = await listen("0199d3a4-9e10-7c3a-8b21-5f0c7d2e9a46");
  hub.emit({ type: "low_disk_space", severity: "warning", key: "/", data: { n: 3 } });
  await now.heard(3);
  await earlier.heard(4);
  await all.heard(5);
  const numbers = (frames: ToCaller[]) =>
    frames.flatMap((frame) => (frame.type === "event" ? [frame.event.data.n] : []));
  expect([now, earlier, all].map(({ frames }) => numbers(frames))).toEqual([[3], [2, 3], [1, 2, 3]]);
  const { events } = eventListSchema.parse(await (await get(`${url}/events`)).json());
  expect(now.frames.at(-1)).toEqual({ type: "event", device: "box", event: events.at(-1) });
});
