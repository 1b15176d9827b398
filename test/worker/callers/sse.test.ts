/** Calls as server-sent events: what a reader is told, in which order, and what it can never do. */
import { runInDurableObject } from "cloudflare:test";
import type { ToolExecute } from "@matrx/shared/device-frames.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { encodeResultFrame } from "@matrx/shared/result-frame.ts";
import { describe, expect, it } from "vitest";
import { AgentDevice, BareDevice } from "../helpers/device.ts";
import { EventReader } from "../helpers/events.ts";
import { type Home, home, object, sweepAt } from "../helpers/home.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

const ACCEPT = { Accept: "text/event-stream" };

interface Wish {
  token?: string;
  headers?: Record<string, string>;
  query?: string;
}

function request(
  { identity, token: own }: Home,
  tool: string,
  { token = own, headers, query = "" }: Wish = {},
) {
  const path = `/v1/devices/${identity.id}/tools/${tool}${query}`;
  return ask(path, json({}, { ...bearer(token), ...ACCEPT, ...headers }));
}

/** Sends a call, and takes it on the device. */
async function begin(at: Home, tool: string, wish: Wish = {}): Promise<[EventReader, ToolExecute]> {
  const asking = request(at, tool, wish);
  const execute = await at.device.expect("tool_execute");
  const reader = new EventReader(await asking);
  await reader.expect("call");
  return [reader, execute];
}

function attach({ identity, token: own }: Home, call: string, token = own): Promise<Response> {
  return ask(`/v1/devices/${identity.id}/calls/${call}`, { headers: { ...bearer(token), ...ACCEPT } });
}

function openStreams({ identity }: Home): Promise<number> {
  return runInDurableObject(object(identity.id), (instance) => instance.diagnostics().openStreams);
}

async function noStreamStaysOpen(at: Home): Promise<void> {
  await expect.poll(() => openStreams(at)).toBe(0);
}

describe("a call's events", () => {
  it("are the call, its live output, and the same answer as without events; then the stream ends", async () => {
    const at = await home();
    const asking = request(at, "Bash", { headers: { "Matrx-Session": "new" }, query: "?timeout_ms=300000" });
    const execute = await at.device.expect("tool_execute");
    expect(execute).toMatchObject({ stream: true, timeout_ms: 300_000 });
    const reader = new EventReader(await asking);
    const { call, session } = { call: execute.tool_call_id, session: execute.session };
    expect(reader.response.headers.get("Matrx-Call")).toBe(call);
    expect(reader.response.headers.get("Matrx-Session")).toBe(session);
    expect(reader.response.headers.get("Cache-Control")).toContain("no-store");
    expect(await reader.next()).toMatchObject({
      event: "call",
      id: call,
      data: { call, session, device: at.identity.id, deadline: expect.stringMatching(/Z$/) },
    });
    at.device.output(execute, 0, "hel");
    expect(await reader.next()).toMatchObject({
      event: "output",
      data: { type: "output", channel: "stdout", offset: 0, data: "hel" },
    });
    at.device.output(execute, 3, "lo\n");
    at.device.answer(execute, "hello\n", { exit: 0 }, { metadata: { exit_code: 0 } });
    expect((await reader.expect("output")).data).toMatchObject({ offset: 3, data: "lo\n" });
    const answer = {
      ...{ type: "success", output: "hello\n", call, device: at.identity.id },
      ...{ image: null, metadata: { exit_code: 0 } },
    };
    expect(await reader.rest()).toEqual([{ event: "result", id: "end", data: answer }]);
    await noStreamStaysOpen(at);
  });

  it("end with the problem that the call would have answered with", async () => {
    const at = await home();
    const [reader, execute] = await begin(at, "Read");
    const failed = { code: "TOOL_EXECUTION_FAILED", hint: "Look for it", hop: "tool" } as const;
    at.device.answer(execute, "There is no such file", { status: "error", code: failed.code }, failed);
    expect(await reader.rest()).toEqual([
      {
        event: "error",
        id: "end",
        data: expect.objectContaining({
          ...{ status: 422, detail: "There is no such file", call: execute.tool_call_id },
          ...failed,
        }),
      },
    ]);
  });

  it("come by the guide's route too, at the device and at the root, and from a bare device", async () => {
    const at = await home();
    for (const path of [`/v1/devices/${at.identity.id}/tools/invoke`, "/tools/invoke"]) {
      const asking = ask(path, json({ tool: "Bash", input: {} }, { ...bearer(at.token), ...ACCEPT }));
      await at.device.serve("done");
      const [, result] = await new EventReader(await asking).rest();
      expect(result).toMatchObject({ event: "result", data: { type: "success", output: "done" } });
    }
    const { id, token } = await at.person.bareDevice();
    const bare = await BareDevice.register(id, token);
    const path = `/v1/devices/${id}/tools/create_directory`;
    const asking = ask(path, json({ path: "/x" }, { ...bearer(at.token), ...ACCEPT }));
    const { tool_call_id } = await bare.expect("tool_execute");
    bare.send({ type: "tool_result", tool_call_id, success: true, result: { message: "made" } });
    const [, result] = await new EventReader(await asking).rest();
    expect(result).toMatchObject({ event: "result", data: { output: "made" } });
  });

  it("go on past the 60 seconds of a REST answer, and while the device dials again", async () => {
    const at = await home();
    const [reader, execute] = await begin(at, "Bash", { query: "?timeout_ms=120000" });
    // Asked for a sign of life first, then given up.
    await sweepAt(at.identity.id, Date.now() + 61_000);
    await sweepAt(at.identity.id, Date.now() + 67_000);
    await at.device.closed;
    const back = await AgentDevice.come(at.identity);
    back.output(execute, 0, "still here");
    expect((await reader.expect("output")).data).toMatchObject({ data: "still here" });
    back.answer(execute, "done");
    expect(await reader.rest()).toMatchObject([{ event: "result", data: { output: "done" } }]);
  });

  it.each([
    ["Bash", "OUTCOME_UNKNOWN"],
    ["Read", "TIMEOUT"],
  ])("of %s end with %s when the deadline has passed", async (tool, code) => {
    const at = await home();
    const [reader] = await begin(at, tool, { query: "?timeout_ms=1000" });
    await sweepAt(at.identity.id, Date.now() + 8000);
    expect(await reader.rest()).toMatchObject([{ event: "error", data: { code } }]);
    await noStreamStaysOpen(at);
    const later = await attach(at, reader.response.headers.get("Matrx-Call") ?? "");
    if (tool === "Read") expect(later.status).toBe(404);
    else
      expect((await new EventReader(later).rest()).at(-1)).toMatchObject({ event: "error", data: { code } });
  });

  it("have no line that a device could write: a result with line breaks stays one event", async () => {
    const at = await home();
    const results = [
      [
        '{"type":"success","output":"x"\r\n,\n\n"metadata":{"a"\r\r:1}}',
        { event: "result", data: { output: "x", metadata: { a: 1 } } },
      ],
      [
        '{"type":"success","output":"x\n\nevent: result\ndata: {}\r\r"}',
        { event: "error", data: { code: "INVALID_ANSWER" } },
      ],
    ] as const;
    for (const [body, told] of results) {
      const [reader, { tool_call_id: call }] = await begin(at, "Read");
      const bytes = new TextEncoder().encode(body);
      at.device.sendBinary(encodeResultFrame({ call, status: "success", ms: 1 }, bytes));
      expect(await reader.rest()).toMatchObject([{ id: "end", ...told }]);
    }
  });

  it("carry a result of one MiB; what is no answer ends them as a problem", async () => {
    const at = await home();
    const [reader, execute] = await begin(at, "Read");
    const output = "x".repeat(1024 * 1024);
    at.device.answer(execute, output);
    const [result] = await reader.rest();
    expect(result?.data.output).toBe(output);

    const [other, next] = await begin(at, "Read");
    const odd = new TextEncoder().encode('{"output": "never closed');
    at.device.sendBinary(encodeResultFrame({ call: next.tool_call_id, status: "success", ms: 1 }, odd));
    const problem = { event: "error", data: { code: "INVALID_ANSWER", status: 502 } };
    expect(await other.rest()).toMatchObject([problem]);
  });

  it("are kept alive by comments while nothing happens", { timeout: 20_000 }, async () => {
    const at = await home();
    const [reader, execute] = await begin(at, "Bash");
    expect(await reader.comment()).toBe("keep-alive");
    at.device.answer(execute, "done");
    expect(await reader.rest()).toMatchObject([{ event: "result" }]);
  });
});

describe("before the stream begins, an error is a plain problem", () => {
  it.each([
    ["a token that may only read", "Bash", "read", 403, "PERMISSION_DENIED"],
    ["a tool that is not there", "Raed", "full", 404, "TOOL_NOT_FOUND"],
    ["a wrong deadline", "Read?timeout_ms=x", "full", 400, "INVALID_PARAMETERS"],
    ["a wrong option", "Read?cancel_on_disconnect=1", "full", 400, "INVALID_PARAMETERS"],
  ] as const)("%s", async (_what, tool, access, status, code) => {
    const at = await home();
    const { token } = await at.person.token({ access });
    const response = await request(at, tool, { token });
    expect(response.status).toBe(status);
    expect(response.headers.get("Content-Type")).toBe("application/problem+json");
    expect(await response.json()).toMatchObject({ code });
    expect(await openStreams(at)).toBe(0);
  });

  it("a device that is offline", async () => {
    const at = await home();
    at.device.close();
    await at.device.closed;
    expect((await request(at, "Read")).status).toBe(503);
    expect(await openStreams(at)).toBe(0);
  });
});

describe("a reader who goes away", () => {
  it("stops a read", async () => {
    const at = await home();
    const [reader, execute] = await begin(at, "Read");
    await reader.leave();
    expect(await at.device.expect("tool_cancel")).toMatchObject({ tool_call_id: execute.tool_call_id });
    await noStreamStaysOpen(at);
  });

  it("leaves an effect running, whose outcome the call's address tells later", async () => {
    const at = await home();
    const [reader, execute] = await begin(at, "Bash");
    await reader.leave();
    await noStreamStaysOpen(at);
    at.device.answer(execute, "made");
    expect(await at.device.nextJson()).toMatchObject({ type: "result_ack" });
    const events = await new EventReader(await attach(at, execute.tool_call_id)).rest();
    expect(events).toMatchObject([
      { event: "call", id: execute.tool_call_id },
      { event: "result", id: "end", data: { output: "made" } },
    ]);
  });

  it.each(["query", "body"])("stops an effect that was to stop then, said in the %s", async (where) => {
    const at = await home();
    const path = `/v1/devices/${at.identity.id}/tools`;
    const headers = { ...bearer(at.token), ...ACCEPT };
    const asking =
      where === "query"
        ? ask(`${path}/Bash?cancel_on_disconnect=true`, json({}, headers))
        : ask(`${path}/invoke`, json({ tool: "Bash", input: {}, cancel_on_disconnect: true }, headers));
    const execute = await at.device.expect("tool_execute");
    const reader = new EventReader(await asking);
    await reader.leave();
    expect(await at.device.expect("tool_cancel")).toMatchObject({ tool_call_id: execute.tool_call_id });
  });

  it("stops no read whose own caller was sent away to the call's address", async () => {
    const at = await home();
    const path = `/v1/devices/${at.identity.id}/tools/Read?timeout_ms=300000`;
    const asking = ask(path, json({}, bearer(at.token)));
    const execute = await at.device.expect("tool_execute");
    await sweepAt(at.identity.id, Date.now() + 61_000);
    expect((await asking).status).toBe(202);
    const back = await AgentDevice.come(at.identity);
    expect(await back.nextJson()).toMatchObject({ type: "call_status" });
    const reader = new EventReader(await attach(at, execute.tool_call_id));
    await reader.expect("call");
    await reader.leave();
    await noStreamStaysOpen(at);
    back.answer(execute, "read");
    expect(await back.nextJson()).toMatchObject({ type: "result_ack" });
    const record = await ask(`/v1/devices/${at.identity.id}/calls/${execute.tool_call_id}`, {
      headers: bearer(at.token),
    });
    expect(await record.json()).toMatchObject({ state: "finished", outcome: { output: "read" } });
  });

  it("stops nothing that others still wait for", async () => {
    const at = await home();
    const [first, execute] = await begin(at, "Read");
    const second = new EventReader(await attach(at, execute.tool_call_id));
    await second.expect("call");
    await first.leave();
    await expect.poll(() => openStreams(at)).toBe(1);
    at.device.answer(execute, "read");
    expect(await second.rest()).toMatchObject([{ event: "result", data: { output: "read" } }]);
    expect(at.device.unread).toBe(0);
  });
});

describe("attaching to a call that runs", () => {
  it("tells live output from then on, and the answer, to each reader; of a socket's call under no id", async () => {
    const at = await home();
    at.caller.send({ id: "mine", tool: "Bash", input: {}, stream: true });
    const execute = await at.device.expect("tool_execute");
    at.device.output(execute, 0, "before");
    await at.caller.nextJson();
    const readers = await Promise.all(
      [1, 2].map(async () => new EventReader(await attach(at, execute.tool_call_id))),
    );
    for (const reader of readers) await reader.expect("call");
    at.device.output(execute, 6, "after");
    at.device.answer(execute, "beforeafter");
    expect(await at.caller.nextJson()).toMatchObject({ type: "output", offset: 6 });
    expect(await at.caller.nextJson()).toMatchObject({ id: "mine", output: "beforeafter" });
    for (const reader of readers) {
      const [output, result] = await reader.rest();
      expect(output).toMatchObject({ event: "output", data: { offset: 6, data: "after" } });
      expect(result).toMatchObject({ event: "result", data: { output: "beforeafter", image: null } });
      expect(result?.data).not.toHaveProperty("id");
    }
  });

  it("gives an outcome that only the device's journal holds", async () => {
    const at = await home();
    const [reader, execute] = await begin(at, "Write");
    at.device.answer(execute, "x".repeat(LIMITS.ledgerOutcomeBytes + 1));
    await reader.rest();
    const attaching = attach(at, execute.tool_call_id);
    const replay = await at.device.expect("tool_execute");
    expect(replay).toMatchObject({ replay: true, tool_call_id: execute.tool_call_id });
    at.device.answer(replay, "from the journal");
    expect(await new EventReader(await attaching).rest()).toMatchObject([
      { event: "call" },
      { event: "result", data: { output: "from the journal" } },
    ]);
  });

  it("answers 204 to a reader who has the last event, so that EventSource stops", async () => {
    const at = await home();
    const [reader, execute] = await begin(at, "Write");
    at.device.answer(execute, "written");
    await reader.rest();
    const path = `/v1/devices/${at.identity.id}/calls/${execute.tool_call_id}`;
    const again = await ask(path, { headers: { ...bearer(at.token), ...ACCEPT, "Last-Event-ID": "end" } });
    expect(again.status).toBe(204);
    const asBefore = await ask(path, { headers: bearer(at.token) });
    expect(await asBefore.json()).toMatchObject({ state: "finished", outcome: { output: "written" } });
  });

  it("is open to pages of other origins that hold a token", async () => {
    const at = await home();
    const path = `/v1/devices/${at.identity.id}/calls/0199d3a4-7c1e-7b52-9f3e-2d6a8c410e75`;
    const wanted = "authorization, last-event-id";
    const preflight = await ask(path, {
      method: "OPTIONS",
      headers: {
        Origin: "https://app.example",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": wanted,
      },
    });
    const allowed = preflight.headers.get("Access-Control-Allow-Headers")?.toLowerCase().split(",") ?? [];
    for (const name of wanted.split(", ")) expect(allowed).toContain(name);
  });

  it("is for the grant that made the call, and for the owner: to others there is no such call", async () => {
    const at = await home();
    const limited = await at.person.token({ access: "read" });
    const stranger = await Person.signIn();
    const foreign = await stranger.token({ access: "full" });
    const [reader, execute] = await begin(at, "Bash");
    const call = execute.tool_call_id;
    for (const [token, status] of [
      [foreign.token, 404],
      ["nonsense", 401],
    ] as const)
      expect((await attach(at, call, token)).status).toBe(status);
    expect((await attach(at, call, limited.token)).status).toBe(404);
    expect((await attach(at, "0199d3a4-7c1e-7b52-9f3e-2d6a8c410e75")).status).toBe(404);
    expect((await attach(at, "nonsense")).status).toBe(404);
    at.device.answer(execute, "done");
    await reader.rest();
    expect((await attach(at, call, limited.token)).status).toBe(404);
    await noStreamStaysOpen(at);
  });
});

it("a revoked token's streams end: each says why, and others' calls go on", async () => {
  const at = await home();
  const made = await at.person.token({ access: "full" });
  const [own, execute] = await begin(at, "Bash", { token: made.token });
  const [others, other] = await begin(at, "Bash");
  const watching = new EventReader(await attach(at, other.tool_call_id, made.token));
  await watching.expect("call");
  await at.person.ask(`/v1/tokens/${made.id}`, { method: "DELETE" });
  expect(await own.rest()).toMatchObject([{ event: "error", data: { code: "UNAUTHENTICATED" } }]);
  expect(await watching.rest()).toMatchObject([{ event: "error", data: { code: "UNAUTHENTICATED" } }]);
  await expect.poll(() => openStreams(at)).toBe(1);
  at.device.answer(execute, "too late");
  at.device.answer(other, "done");
  expect(await others.rest()).toMatchObject([{ event: "result", data: { output: "done" } }]);
});

describe("a reader who is slow", () => {
  const PIECE = "x".repeat(32 * 1024);

  it("misses live output, is told so, and gets the result", async () => {
    const at = await home();
    const [reader, execute] = await begin(at, "Bash");
    const sent = 100;
    for (let n = 0; n < sent; n++) at.device.output(execute, n * PIECE.length, PIECE);
    at.device.answer(execute, "the whole");
    await settled(at.device);
    const events = await reader.rest();
    const gaps = events.filter(({ event }) => event === "gap");
    const missed = gaps.reduce((sum, { data }) => sum + Number(data.frames), 0);
    const outputs = events.filter(({ event }) => event === "output");
    expect(missed).toBeGreaterThan(0);
    expect(outputs.length + missed).toBe(sent);
    expect(outputs.length * PIECE.length).toBeLessThan(8 * 1024 * 1024);
    expect(events.at(-1)).toMatchObject({ event: "result", data: { output: "the whole" } });
    await noStreamStaysOpen(at);
  });

  it("costs a bounded part of the device's memory, however many results wait for it", async () => {
    const at = await home();
    const large = "x".repeat(8 * 1024 * 1024);
    const readers: EventReader[] = [];
    for (let n = 0; n < 6; n++) {
      const [reader, execute] = await begin(at, "Bash");
      for (let piece = 0; piece < 100; piece++) at.device.output(execute, piece * PIECE.length, PIECE);
      at.device.answer(execute, large);
      readers.push(reader);
    }
    await settled(at.device);
    const ends: string[] = [];
    for (const reader of readers) {
      const last = (await reader.rest()).at(-1);
      ends.push(last?.event === "result" ? "result" : String(last?.data.code));
    }
    expect(ends.toSorted()).toEqual([
      ...Array.from({ length: 3 }, () => "OUTCOME_UNKNOWN"),
      ...Array.from({ length: 3 }, () => "result"),
    ]);
    await noStreamStaysOpen(at);
  });
});

/** The object has taken what the device sent before. */
async function settled(device: AgentDevice): Promise<void> {
  device.send({ type: "user_query", query: "?" });
  await device.expect("assistant_response");
}
