/** One caller API: the same requests get the same answers from the relay, at its root, and from the local server. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeCallId } from "../../shared/ids.ts";
import { LIMITS } from "../../shared/limits.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { type Base, type BaseName, eventsOf, jsonOf, startBases } from "./bases.ts";

/** Routes that a base does not have, with the reason. */
const ABSENT: Partial<Record<BaseName, readonly (readonly [line: string, reason: string])[]>> = {
  root: [
    ["GET /tools", "at the root only the guide's two routes name their device otherwise than by path"],
    ["POST /tools/Read", "the same"],
    ["GET /system-prompt", "the same"],
    ["GET /events", "the same"],
    ["GET /calls", "the same"],
    ["POST /calls/x/cancel", "the same"],
  ],
  local: [
    ["GET /calls", "the local server holds each call to its end, and keeps no records"],
    ["GET /calls/x", "the same"],
  ],
};

/** Answers that differ, with the reason: a body that does not say that it is JSON. */
const UNTYPED_BODY: Record<BaseName, { status: number; reason: string }> = {
  relay: { status: 200, reason: "a token is what a foreign page cannot have" },
  root: { status: 200, reason: "the same" },
  local: { status: 400, reason: "it may run without a token, so a form must not pass for a call" },
};

let bases: Awaited<ReturnType<typeof startBases>>;
let folder: string;
const tooLong = "x".repeat(LIMITS.idempotencyKeyChars + 1);

beforeAll(async () => {
  folder = makeFolder();
  bases = await startBases();
});
afterAll(async () => {
  await bases?.stop();
  removeFolder(folder);
});

const invoke = (base: Base, body: unknown, headers?: Record<string, string>) =>
  base.ask("POST /tools/invoke", body, headers);
const bash = (command: string, more = {}) => ({ tool: "Bash", input: { command }, ...more });
const STREAM = { Accept: "text/event-stream" };

describe.each<BaseName>(["relay", "root", "local"])("the guide's routes, %s", (name) => {
  const at = () => bases[name];

  it("list the same tools, by name and for models", async () => {
    const { tools } = await jsonOf(await at().ask("GET /tools/list"));
    expect(tools).toEqual((await jsonOf(await bases.relay.ask("GET /tools/list"))).tools);
    const definitions = await jsonOf(await at().ask("GET /tools/list?format=mcp"));
    expect(definitions).toEqual(await jsonOf(await bases.relay.ask("GET /tools/list?format=mcp")));
  });

  it("answer a call in the guide's shape, and name it", async () => {
    const response = await invoke(at(), bash("echo hi"));
    const call = response.headers.get("Matrx-Call");
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
    const answer = await jsonOf(response);
    expect(answer).toEqual({
      ...{ type: "success", output: "hi\n", image: null, call, device: expect.any(String) },
      metadata: expect.objectContaining({ exit_code: 0 }),
    });
  });

  it.each([
    [
      "a misspelt tool",
      { tool: "Raed", input: {} },
      "TOOL_NOT_FOUND",
      { tool: "Raed", did_you_mean: "Read" },
    ],
    [
      "a misspelt field",
      bash("x", { input: { comand: "x" } }),
      "INVALID_PARAMETERS",
      { field: "comand", did_you_mean: "command" },
    ],
    ["a missing file", { tool: "Read", input: { file_path: "/no/such" } }, "NOT_FOUND", { path: "/no/such" }],
  ])("answer %s with 200 and what to do", async (_what, body, code, metadata) => {
    const answer = await jsonOf(await invoke(at(), body));
    expect(answer).toMatchObject({ type: "error", code, image: null, hint: expect.any(String) });
    expect(answer.metadata).toMatchObject(metadata);
  });

  it.each([
    ["{", "INVALID_MESSAGE", undefined],
    ["[]", "INVALID_MESSAGE", undefined],
    [`{"tool":"Read","input":${"[".repeat(80)}${"]".repeat(80)}}`, "INVALID_MESSAGE", undefined],
    ['{"input":{}}', "INVALID_PARAMETERS", { field: "tool" }],
    ['{"tool":"Read","input":7}', "INVALID_PARAMETERS", { field: "input" }],
    ['{"tool":"Read","timeout_ms":0}', "INVALID_PARAMETERS", { field: "timeout_ms" }],
    ['{"tool":"Read","queue_for":1}', "INVALID_PARAMETERS", { field: "queue_for" }],
  ])("refuse the body %s in the guide's shape", async (body, code, metadata) => {
    const answer = await jsonOf(await invoke(at(), body), 400);
    const hint = expect.any(String);
    expect(answer).toMatchObject({ type: "error", output: expect.any(String), image: null, code, hint });
    expect([answer.metadata, answer.hop]).toEqual([metadata, at().hop]);
  });

  it("refuse a body that is too large with a problem", async () => {
    // Of no stated length: one that is known to be too large may be refused before all of it was sent.
    const body = new Blob(["x".repeat(LIMITS.restBodyBytes + 1)]).stream();
    const response = await at().ask("POST /tools/invoke", body, { "Content-Type": "application/json" });
    const problem = { code: "PAYLOAD_TOO_LARGE", limit_bytes: LIMITS.restBodyBytes, hop: at().hop };
    expect(await jsonOf(response, 413)).toMatchObject(problem);
  });

  it.each([
    ["Matrx-Session", "nonsense"],
    ["Matrx-Call", "nonsense"],
    ["Matrx-Call", "01890000-0000-7000-8000-000000000000"],
    ["Idempotency-Key", tooLong],
  ])("refuse the header %s: %.40s", async (header, value) => {
    const response = await invoke(at(), bash("true"), { [header]: value });
    const problem = { code: "INVALID_PARAMETERS", field: header, hop: at().hop };
    expect(await jsonOf(response, 400)).toMatchObject(problem);
  });

  it("refuse an unknown format", async () => {
    const response = await at().ask("GET /tools/list?format=xml");
    expect(await jsonOf(response, 400)).toMatchObject({ code: "INVALID_PARAMETERS", field: "format" });
  });

  it("keep a working directory in a session, and only there", async () => {
    const first = await invoke(at(), bash("cd / && pwd"), { "Matrx-Session": "new" });
    const session = first.headers.get("Matrx-Session") ?? "";
    expect(session).toMatch(/^[0-9a-f]{16}$/);
    await first.text();
    const again = await invoke(at(), bash("pwd"), { "Matrx-Session": session });
    expect(again.headers.get("Matrx-Session")).toBe(session);
    expect(await jsonOf(again)).toMatchObject({ output: "/\n" });
    const apart = await invoke(at(), bash("pwd"));
    expect(apart.headers.get("Matrx-Session")).toBeNull();
    expect(await jsonOf(apart)).not.toMatchObject({ output: "/\n" });
  });

  it("run a call of one key once, and refuse the key for another", async () => {
    const log = join(folder, `${name}.log`);
    const keyed = bash(`echo run >> ${log}; cat ${log}`);
    const key = { "Idempotency-Key": `key of ${name}` };
    const first = await jsonOf(await invoke(at(), keyed, key));
    expect(first).toMatchObject({ type: "success", output: "run\n" });
    expect(await jsonOf(await invoke(at(), keyed, key))).toEqual(first);
    expect(await jsonOf(await invoke(at(), { ...keyed, idempotency_key: key["Idempotency-Key"] }))).toEqual(
      first,
    );
    expect(await jsonOf(await invoke(at(), bash("true"), key))).toMatchObject({
      type: "error",
      code: "CONFLICT",
    });
  });

  it("run a call of one name once", async () => {
    const named = { "Matrx-Call": makeCallId() };
    const first = await invoke(at(), bash("echo named"), named);
    expect(first.headers.get("Matrx-Call")).toBe(named["Matrx-Call"]);
    expect(await jsonOf(first)).toMatchObject({ output: "named\n" });
    const again = await invoke(at(), bash("echo named"), named);
    expect(await jsonOf(again)).toMatchObject({ type: "error", code: "CONFLICT" });
  });

  it("tell a call as events: first its name, then output, at last the answer", async () => {
    const response = await invoke(at(), bash("echo one"), { ...STREAM, "Matrx-Session": "new" });
    const call = response.headers.get("Matrx-Call");
    const session = response.headers.get("Matrx-Session");
    const events = await eventsOf(response);
    expect(events.map(([event]) => event)).toEqual(["call", "output", "result"]);
    const [first, output, result] = events.map(([, data]) => data);
    expect(first).toEqual({ call, session, device: expect.any(String), deadline: expect.any(String) });
    expect(output).toEqual({ type: "output", channel: "stdout", offset: 0, data: "one\n" });
    expect(result).toMatchObject({ type: "success", output: "one\n", image: null, call });
  });

  it("tell of a failure as an event, and of a body that is no call as a problem", async () => {
    const events = await eventsOf(
      await invoke(at(), { tool: "Read", input: { file_path: "/no/such" } }, STREAM),
    );
    expect(events.at(-1)).toMatchObject(["error", { code: "NOT_FOUND", status: 404 }]);
    expect(await jsonOf(await invoke(at(), "{", STREAM), 400)).toMatchObject({ code: "INVALID_MESSAGE" });
  });

  it("give a large answer whole", async () => {
    const file = join(folder, "image.png");
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    const bytes = Buffer.concat([png, Buffer.alloc(3_000_000, 7)]);
    writeFileSync(file, bytes);
    const answer = await jsonOf(await invoke(at(), { tool: "Read", input: { file_path: file, raw: true } }));
    const { base64_data } = answer.image as { base64_data: string };
    expect(Buffer.from(base64_data, "base64").equals(bytes)).toBe(true);
  });

  it("say what their paths accept", async () => {
    const wrong = await at().ask("DELETE /tools/invoke");
    expect(wrong.headers.get("Allow")).toBe("POST");
    const allow = { code: "METHOD_NOT_ALLOWED", allow: ["POST"], hop: at().hop };
    expect(await jsonOf(wrong, 405)).toMatchObject(allow);
    expect(await jsonOf(await at().ask("PUT /tools/list"), 405)).toMatchObject({ allow: ["GET", "HEAD"] });
    expect(await jsonOf(await at().ask("GET /nothing"), 404)).toMatchObject({ code: "NOT_FOUND" });
  });

  it("answer HEAD as GET without a body, and OPTIONS to pages alone", async () => {
    const head = await at().ask("HEAD /tools/list");
    expect([head.status, head.headers.get("Content-Type"), await head.text()]).toEqual([
      200,
      "application/json",
      "",
    ]);
    expect(await jsonOf(await at().ask("OPTIONS /tools/list"), 405)).toMatchObject({
      allow: ["GET", "HEAD"],
    });
    const origin = new URL(at().url).origin;
    const preflight = await at().ask("OPTIONS /tools/invoke", undefined, { Origin: origin });
    expect(preflight.status).toBe(204);
    const allowed = preflight.headers.get("Access-Control-Allow-Headers")?.toLowerCase() ?? "";
    for (const header of ["authorization", "idempotency-key", "matrx-call", "matrx-session"]) {
      expect(allowed.split(/,\s*/)).toContain(header);
    }
  });

  it("ask for a token", async () => {
    const response = await at().ask("GET /tools/list", undefined, { Authorization: "" });
    expect(response.headers.get("WWW-Authenticate")).toMatch(/^Bearer /);
    expect(await jsonOf(response, 401)).toMatchObject({ code: "UNAUTHENTICATED", hop: at().hop });
  });

  it("take an untyped body as its table says", async () => {
    const response = await invoke(at(), bash("true"), { "Content-Type": "text/plain" });
    expect(response.status).toBe(UNTYPED_BODY[name].status);
  });

  it("have no route that its table calls absent", async () => {
    for (const [line] of ABSENT[name] ?? []) {
      const { status } = await at().ask(line as "GET /tools", line.startsWith("POST") ? {} : undefined);
      expect([line, status]).toEqual([line, expect.toBeOneOf([404, 405])]);
    }
  });
});

describe.each<BaseName>(["relay", "local"])("the device's own routes, %s", (name) => {
  const at = () => bases[name];

  it("give the tools with their schemas", async () => {
    const { hash, tools } = await jsonOf(await at().ask("GET /tools"));
    expect({ hash, tools }).toEqual({
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      tools: expect.any(Array),
    });
    const { hash: theirs, tools: same } = await jsonOf(await bases.relay.ask("GET /tools"));
    expect([hash, tools]).toEqual([theirs, same]);
    expect(await jsonOf(await at().ask("GET /tools?format=openai"))).toMatchObject({
      format: "openai",
      hash,
    });
  });

  it("give the system prompt and the events", async () => {
    const prompt = await at().ask("GET /system-prompt");
    expect(prompt.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
    expect(await prompt.text()).toContain("local_bash");
    const list = { device: expect.any(String), events: expect.any(Array), dropped: 0 };
    expect(await jsonOf(await at().ask("GET /events?limit=5"))).toEqual(list);
    expect(await jsonOf(await at().ask("GET /events?limit=0"), 400)).toMatchObject({ field: "limit" });
  });

  it.each(["files", "terminals,system", "ports", "all"])("tell models of %s the same", async (families) => {
    const { tools } = await jsonOf(await at().ask(`GET /tools?format=anthropic&tools=${families}`));
    const names = (tools as { name: string }[]).map(({ name }) => name);
    expect(names).toContain("local_system_info");
    const prompt = await (await at().ask(`GET /system-prompt?tools=${families}`)).text();
    expect([...prompt.matchAll(/^- (local_\w+): /gm)].map(([, name]) => name).sort()).toEqual(names.sort());
    const wrong = await jsonOf(await at().ask(`GET /system-prompt?tools=${families},webcam`), 400);
    expect(wrong).toMatchObject({
      field: "tools",
      detail: expect.stringContaining('has no family "webcam"'),
    });
  });

  it("call a tool by its path: the body is its input", async () => {
    const response = await at().ask("POST /tools/local_bash", { command: "echo hi" });
    const call = response.headers.get("Matrx-Call");
    expect(await jsonOf(response)).toMatchObject({ type: "success", output: "hi\n", call });
    expect(await jsonOf(await at().ask("POST /tools/SystemInfo"))).toMatchObject({ type: "success" });
  });

  it.each([
    ["Raed", {}, 404, { code: "TOOL_NOT_FOUND", metadata: { tool: "Raed", did_you_mean: "Read" } }],
    ["Bash", { comand: "x" }, 400, { code: "INVALID_PARAMETERS", metadata: { field: "comand" } }],
    ["Read", { file_path: "/no/such" }, 404, { code: "NOT_FOUND", metadata: { path: "/no/such" } }],
    ["Bash?timeout_ms=200", { command: "sleep 9" }, 504, { code: "TIMEOUT" }],
  ])("answer %s %j with a problem", async (tool, input, status, problem) => {
    const response = await at().ask(`POST /tools/${tool}`, input);
    const call = response.headers.get("Matrx-Call");
    const named = { call, device: expect.any(String), output: expect.any(String), hint: expect.any(String) };
    expect(await jsonOf(response, status)).toMatchObject({ ...named, ...problem });
  });

  it.each([
    ["?timeout_ms=x", "timeout_ms"],
    ["?cancel_on_disconnect=maybe", "cancel_on_disconnect"],
  ])("refuse %s", async (query, field) => {
    const response = await at().ask(`POST /tools/Bash${query}`, { command: "true" });
    expect(await jsonOf(response, 400)).toMatchObject({ code: "INVALID_PARAMETERS", field, hop: at().hop });
  });

  it("refuse a name that was used", async () => {
    const named = { "Matrx-Call": makeCallId() };
    await jsonOf(await at().ask("POST /tools/Bash", { command: "true" }, named));
    for (const accept of ["*/*", STREAM.Accept]) {
      const again = await at().ask("POST /tools/Bash", { command: "true" }, { ...named, Accept: accept });
      expect(await jsonOf(again, 409)).toMatchObject({ code: "CONFLICT" });
    }
  });

  it("stop a call that its caller named", async () => {
    const call = makeCallId();
    const started = join(folder, `${name}.started`);
    const command = `echo > ${started}; sleep 60`;
    const response = await at().ask("POST /tools/Bash", { command }, { ...STREAM, "Matrx-Call": call });
    const cancelled = await at().ask(`POST /calls/${call}/cancel`);
    expect(await jsonOf(cancelled, 202)).toEqual({ call });
    expect((await eventsOf(response)).at(-1)).toMatchObject([
      "error",
      { code: "CANCELLED", status: 499, call },
    ]);
    for (const unknown of [makeCallId(), "nonsense"]) {
      const refused = await at().ask(`POST /calls/${unknown}/cancel`);
      expect(await jsonOf(refused, 404)).toMatchObject({ code: "NOT_FOUND", hop: at().hop });
    }
  });

  it("say what their paths accept", async () => {
    expect(await jsonOf(await at().ask("GET /tools/Read"), 405)).toMatchObject({ allow: ["POST"] });
    expect(await jsonOf(await at().ask("DELETE /events"), 405)).toMatchObject({ allow: ["GET", "HEAD"] });
    const { code } = await jsonOf(await at().ask("GET /ws"), 400);
    expect(code).toBe("INVALID_MESSAGE");
  });
});
