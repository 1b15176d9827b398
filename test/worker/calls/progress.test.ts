/** How far a call is: told to callers that asked for live output, and bounded whatever a device sends. */
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import { describe, expect, it } from "vitest";
import { EventReader } from "../helpers/events.ts";
import { home } from "../helpers/home.ts";
import { bearer, json } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

describe("progress", () => {
  it("reaches the WebSocket that asked for live output, under its own id", async () => {
    const at = await home();
    at.caller.send({ id: "1", tool: "Read", input: {}, stream: true });
    const { tool_call_id, ...execute } = await at.device.expect("tool_execute");
    at.device.send({ type: "tool_progress", tool_call_id, progress: 1, total: 4, message: "a\nb" });
    expect(await at.caller.nextJson()).toEqual({
      ...{ id: "1", type: "progress", progress: 1, total: 4, message: "a\nb" },
    });
    at.device.send({ type: "tool_progress", tool_call_id, progress: 2 });
    expect(await at.caller.nextJson()).toEqual({ id: "1", type: "progress", progress: 2 });
    at.device.answer({ tool_call_id, ...execute }, "done");
    expect(await at.caller.nextJson()).toMatchObject({ id: "1", type: "success" });
  });

  it("reaches nobody who did not ask, or whose call it is not", async () => {
    const at = await home();
    at.caller.send({ id: "1", tool: "Read", input: {} });
    const execute = await at.device.expect("tool_execute");
    const { tool_call_id } = execute;
    at.device.send({ type: "tool_progress", tool_call_id, progress: 1 });
    at.device.send({ type: "tool_progress", tool_call_id: "someone-elses", progress: 1 });
    at.device.answer(execute, "done");
    expect(await at.caller.nextJson()).toMatchObject({ id: "1", type: "success" });
    at.device.send({ type: "tool_progress", tool_call_id, progress: 2 });
    at.caller.send({ action: "ping" });
    expect(await at.caller.nextJson()).toEqual({ type: "pong" });
  });

  it("of a device that floods is cut to a trickle, and its answer comes all the same", async () => {
    const at = await home();
    at.caller.send({ id: "1", tool: "Read", input: {}, stream: true });
    const execute = await at.device.expect("tool_execute");
    const { tool_call_id } = execute;
    for (let progress = 0; progress < 2000; progress++)
      at.device.send({ type: "tool_progress", tool_call_id, progress });
    at.device.answer(execute, "done");
    let reports = 0;
    for (;;) {
      const frame = await at.caller.nextJson<{ type: string }>();
      if (frame.type === "success") break;
      reports++;
    }
    expect(reports).toBeGreaterThan(0);
    expect(reports).toBeLessThan(500);
  });

  it("is an event of a streamed call over HTTP", async () => {
    const at = await home();
    const asking = ask(
      `/v1/devices/${at.identity.id}/tools/Read`,
      json({}, { ...bearer(at.token), Accept: "text/event-stream" }),
    );
    const execute = await at.device.expect("tool_execute");
    const reader = new EventReader(await asking);
    await reader.expect("call");
    const { tool_call_id } = execute;
    at.device.send({ type: "tool_progress", tool_call_id, progress: 1, total: 2 });
    expect((await reader.expect("progress")).data).toEqual({ type: "progress", progress: 1, total: 2 });
    at.device.answer(execute, "done");
    expect(await reader.rest()).toMatchObject([{ event: "result" }]);
  });

  it("that is none is refused, and the link stays", async () => {
    const at = await home();
    const lies = [
      { progress: "half" },
      { progress: 1, message: "x".repeat(1001) },
      { progress: 1, total: null },
    ];
    for (const lie of lies) {
      at.device.send({ type: "tool_progress", tool_call_id: "c1", ...lie } as never);
      expect(await at.device.expect("error")).toMatchObject({ error_code: "INVALID_PARAMETERS" });
    }
  });
});

describe("parts of content and a structured result", () => {
  const parts: Partial<Answer> = {
    metadata: { server: "files" },
    content: [
      { type: "text", text: "hello" },
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
    ],
    structured: { deep: [{ er: null }], zero: 0 },
  };

  it("reach the caller as the device wrote them, over a socket and REST", async () => {
    const at = await home();
    at.caller.send({ id: "1", tool: "Read", input: {} });
    at.device.answer(await at.device.expect("tool_execute"), "hello", {}, parts);
    expect(await at.caller.nextJson()).toMatchObject({ id: "1", output: "hello", ...parts });
    const asking = ask(`/v1/devices/${at.identity.id}/tools/Read`, json({}, bearer(at.token)));
    at.device.answer(await at.device.expect("tool_execute"), "hello", {}, parts);
    expect(await (await asking).json()).toMatchObject({ type: "success", output: "hello", ...parts });
  });

  it("are still there in an answer that is kept under its call", async () => {
    const at = await home();
    const path = `/v1/devices/${at.identity.id}`;
    const asking = ask(`${path}/tools/Write`, json({}, bearer(at.token)));
    const execute = await at.device.expect("tool_execute");
    at.device.answer(execute, "hello", {}, parts);
    await (await asking).body?.cancel();
    const kept = await ask(`${path}/calls/${execute.tool_call_id}`, { headers: bearer(at.token) });
    expect(JSON.stringify(await kept.json())).toContain('"structured":{"deep":[{"er":null}],"zero":0}');
  });

  it("that are of no such form are left out", async () => {
    const at = await home();
    at.caller.send({ id: "1", tool: "Read", input: {} });
    const wrong = { code: "NOT_FOUND", content: ["text", { type: 1 }] } as never;
    at.device.answer(await at.device.expect("tool_execute"), "hello", {}, wrong);
    expect(await at.caller.nextJson()).not.toHaveProperty("content");
  });
});
