/** The caller link (docs/protocol.md, Caller link): the same cases against the relay and the local server. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isCallId, isSessionId } from "@matrx/shared/ids.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../helpers/folder.ts";
import { CallerSocket } from "./caller-socket.ts";
import { localHost, relayHost, type SocketHost } from "./socket-hosts.ts";

/** Where the two differ, and why. Whatever is not named here is the same. */
const DIFFERENCES = {
  /** Each says its own errors in its own name. */
  hop: { relay: "relay", "local server": "agent" },
  /** The local server keeps no record that could be asked for by a call's name. */
  saysAccepted: { relay: true, "local server": false },
  /** The local server chooses `bearer.TOKEN` if nothing else was offered; a token of the relay's is never echoed. */
  echoesToken: { relay: false, "local server": true },
  /** To a caller whose line ended without a close frame the platform of the relay sends one; nobody needs it. */
  endsHalfClosed: { relay: 1000, "local server": 1006 },
} as const;

const MINUTE = 60_000;

describe.each([
  ["relay", relayHost],
  ["local server", localHost],
] as const)("the %s", { timeout: MINUTE }, (name, start) => {
  let host: SocketHost;
  const hop = DIFFERENCES.hop[name];
  const open = (how = {}) => CallerSocket.open(host, how);

  beforeAll(async () => {
    host = await start();
  });
  afterAll(() => host?.stop());

  describe("an upgrade", () => {
    it("names its session in a header, and on matrx.v1 in the first frame", async () => {
      const plain = await open();
      expect(isSessionId(plain.headers.get("Matrx-Session") ?? "")).toBe(true);
      expect(plain.socket.protocol).toBe("");
      expect(await plain.drain()).toEqual([]);
      for (const protocol of ["matrx.v1", "matrx.v1.bin"]) {
        const v1 = await open({ protocols: [protocol] });
        expect(v1.socket.protocol).toBe(protocol);
        const session = v1.headers.get("Matrx-Session");
        expect(await v1.next()).toMatchObject({ type: "hello", protocol: 1, session });
      }
    });

    it("may carry the token as a subprotocol, which is not echoed beside another", async () => {
      const bearer = `bearer.${host.token}`;
      const v1 = await open({ headers: {}, protocols: ["matrx.v1", bearer] });
      expect(v1.socket.protocol).toBe("matrx.v1");
      const only = await CallerSocket.dial(host, { headers: {}, protocols: [bearer] }).catch(() => undefined);
      const echoed = only instanceof CallerSocket ? only.socket.protocol : "";
      expect(echoed).toBe(DIFFERENCES.echoesToken[name] ? bearer : "");
    });

    it.each([
      ["without a token", {}],
      ["with a wrong one", { Authorization: "Bearer wrong" }],
    ])("%s is refused", async (_, headers) => {
      const refused = await CallerSocket.dial(host, { headers });
      expect(refused).toBeInstanceOf(Response);
      const problem = await (refused as Response).json();
      expect(problem).toMatchObject({ status: 401, code: "UNAUTHENTICATED", hop });
    });

    it.each(["", "x", "0123456789ABCDEF", "0123456789abcdef0"])(
      "for the session %j, which is none, is refused",
      async (session) => {
        const refused = await CallerSocket.dial(host, { query: `?session=${session}` });
        expect(refused).toBeInstanceOf(Response);
        const problem = await (refused as Response).json();
        expect(problem).toMatchObject({ status: 400, code: "INVALID_PARAMETERS", field: "session", hop });
      },
    );
  });

  describe("a session", () => {
    it("is continued by its id, and is another one without", async () => {
      const folder = temporaryFolder();
      const first = await open();
      expect(await first.call("1", "Bash", { command: `cd '${folder}'` })).toMatchObject({ type: "success" });
      first.socket.close();
      await first.closed;
      const session = first.headers.get("Matrx-Session");
      const again = await open({ query: `?session=${session}` });
      expect(again.headers.get("Matrx-Session")).toBe(session);
      expect((await again.call("1", "Bash", { command: "pwd" })).output.trim()).toBe(folder);
      const other = await open();
      expect(other.headers.get("Matrx-Session")).not.toBe(session);
      expect((await other.call("1", "Bash", { command: "pwd" })).output.trim()).not.toBe(folder);
    });
  });

  describe("a call", () => {
    it("gets one answer, which names call and device", async () => {
      const caller = await open();
      const answer = await caller.call("1", "SystemInfo");
      expect(answer).toMatchObject({ id: "1", type: "success", device: expect.any(String) });
      expect(isCallId(answer.call ?? "")).toBe(true);
      expect(answer).not.toHaveProperty("image");
      expect(await caller.drain()).toEqual([]);
    });

    it("without an id is answered under its name", async () => {
      const caller = await open();
      caller.send({ tool: "SystemInfo" });
      const answer = await caller.next();
      expect(answer).toMatchObject({ type: "success" });
      expect("call" in answer && "id" in answer && answer.id === answer.call).toBe(true);
    });

    it("with an effect has its name told before the answer on matrx.v1", async () => {
      const caller = await open({ protocols: ["matrx.v1"] });
      caller.send({ id: "1", tool: "Bash", input: { command: "true" } });
      const types = (await caller.until("1")).map(({ type }) => type);
      expect(types).toEqual(
        DIFFERENCES.saysAccepted[name] ? ["hello", "accepted", "success"] : ["hello", "success"],
      );
      caller.send({ id: "2", tool: "SystemInfo" });
      expect((await caller.until("2")).map(({ type }) => type)).toEqual(["success"]);
    });

    it("that ends with another exit code is a success, with the code", async () => {
      const caller = await open();
      const answer = await caller.call("1", "Bash", { command: "exit 3" });
      expect(answer).toMatchObject({ type: "success", metadata: { exit_code: 3 } });
    });

    it("of another name for a tool is the same", async () => {
      const caller = await open();
      const answer = await caller.call("1", "local_bash", { command: "echo same" });
      expect(answer).toMatchObject({ type: "success", output: "same\n" });
    });

    it("of a tool that is not there, or with a wrong field, is an error under its id", async () => {
      const caller = await open();
      const unknown = await caller.call("1", "Raed", { file_path: "/" });
      expect(unknown).toMatchObject({ code: "TOOL_NOT_FOUND", hint: expect.stringContaining("Read"), hop });
      const missing = await caller.call("2", "Read", {});
      expect(missing).toMatchObject({ code: "INVALID_PARAMETERS", hop: "tool", output: expect.any(String) });
      const extra = await caller.call("3", "Read", { file_path: "/", no_such: 1 });
      expect(extra).toMatchObject({ code: "INVALID_PARAMETERS", output: expect.stringContaining("no_such") });
      const reserved = await caller.call("4", "SystemInfo", {}, { queue_for: 60 });
      expect(reserved).toMatchObject({ code: "INVALID_PARAMETERS", hop, metadata: { field: "queue_for" } });
    });

    it("takes no longer than it may", async () => {
      const caller = await open();
      const answer = await caller.call("1", "Bash", { command: "sleep 30" }, { timeout_ms: 300 });
      expect(answer).toMatchObject({ type: "error", code: "TIMEOUT" });
    });

    it("runs beside others, and is answered when it ends", async () => {
      const folder = temporaryFolder();
      const caller = await open();
      const waits = `until [ -e '${folder}/go' ]; do sleep 0.02; done`;
      caller.send({ id: "slow", tool: "Bash", input: { command: waits } });
      expect(await caller.call("fast", "Bash", { command: `touch '${folder}/go'` })).toMatchObject({
        id: "fast",
      });
      expect(await caller.answer("slow")).toMatchObject({ id: "slow", type: "success" });
    });

    it("of a key that is known is the same call, under each id; with another input it is a conflict", async () => {
      const file = join(temporaryFolder(), "ran");
      const caller = await open();
      const input = { command: `echo once >> '${file}'; sleep 0.3; cat '${file}'` };
      const key = { idempotency_key: crypto.randomUUID() };
      caller.send({ id: "first", tool: "Bash", input, ...key });
      caller.send({ id: "second", tool: "Bash", input, ...key });
      const both = [await caller.next(), await caller.next()];
      expect(both.map((frame) => "id" in frame && frame.id).sort()).toEqual(["first", "second"]);
      for (const frame of both) expect(frame).toMatchObject({ type: "success", output: "once\n" });
      expect(await caller.call("third", "Bash", input, key)).toMatchObject({ output: "once\n" });
      const other = await caller.call("fourth", "Bash", { command: "true" }, key);
      expect(other).toMatchObject({ type: "error", code: "CONFLICT" });
    });
  });

  describe("a message that is none", () => {
    const long = "x".repeat(200);
    const large = `{"id":"x","tool":"Bash","input":{"a":"${"x".repeat(5_000_000)}"}}`;
    const deep = `{"id":"x","tool":"Bash","input":{"a":${"[".repeat(80)}${"]".repeat(80)}}}`;
    it.each([
      ["broken off", "{", null, "INVALID_MESSAGE"],
      ["a list", "[1]", null, "INVALID_MESSAGE"],
      ["null", "null", null, "INVALID_MESSAGE"],
      ["too deep", deep, null, "INVALID_MESSAGE"],
      ["binary", Buffer.from('{"action":"ping"}'), null, "INVALID_MESSAGE"],
      ["too large", large, null, "PAYLOAD_TOO_LARGE"],
      ["an unknown action", '{"action":"dance"}', null, "INVALID_PARAMETERS"],
      ["an action without its field", '{"action":"cancel"}', null, "INVALID_PARAMETERS"],
      ["an action with a wrong field, under an id", '{"id":7,"action":"cancel"}', null, "INVALID_PARAMETERS"],
      ["a call without a tool", '{"id":"x"}', "x", "INVALID_PARAMETERS"],
      ["a call of a number", '{"id":"x","tool":7}', "x", "INVALID_PARAMETERS"],
      ["a call with a wrong input", '{"id":"x","tool":"Bash","input":[]}', "x", "INVALID_PARAMETERS"],
      ["a call with a wrong deadline", '{"id":"x","tool":"Bash","timeout_ms":0}', "x", "INVALID_PARAMETERS"],
      ["a call with an empty id", '{"id":"","tool":"Bash"}', null, "INVALID_PARAMETERS"],
      ["a call with a long id", `{"id":"${long}","tool":"Bash"}`, null, "INVALID_PARAMETERS"],
    ])("%s, is answered, and the connection lives", async (_, message, id, code) => {
      const caller = await open();
      caller.send(message);
      expect(await caller.next()).toMatchObject({ id, type: "error", code, hop });
      expect(await caller.drain()).toEqual([]);
    });
  });

  describe("unanswered calls", () => {
    it("have an id each, which is free again after the answer", async () => {
      const folder = temporaryFolder();
      const caller = await open();
      const waits = { command: `until [ -e '${folder}/go' ]; do sleep 0.02; done; echo first` };
      caller.send({ id: "1", tool: "Bash", input: waits });
      caller.send({ id: "1", tool: "SystemInfo" });
      expect(await caller.next()).toMatchObject({ id: "1", type: "error", code: "CONFLICT", hop });
      await caller.call("2", "Bash", { command: `touch '${folder}/go'` });
      expect(await caller.answer("1")).toMatchObject({ type: "success", output: "first\n" });
      expect(await caller.call("1", "SystemInfo")).toMatchObject({ id: "1", type: "success" });
    });

    it("are at most 64 on a connection, and all of them can be cancelled", async () => {
      const caller = await open();
      const other = await open();
      const begun = await caller.call("job", "Bash", { command: "sleep 60", run_in_background: true });
      const { bash_id } = begun.metadata as { bash_id: string };
      const wait = { tool: "BashOutput", input: { bash_id, wait_for: "exit" } };
      other.send({ id: "other", ...wait });
      for (let n = 0; n < 64; n++) caller.send({ id: `${n}`, ...wait });
      caller.send({ id: "64", ...wait });
      const refused = { id: "64", code: "RATE_LIMITED", hop, metadata: { limit: 64 } };
      expect(await caller.next()).toMatchObject(refused);
      caller.send({ action: "cancel_all" });
      const ended = new Set<unknown>();
      while (ended.size < 64) {
        const frame = await caller.next();
        expect(frame).toMatchObject({ type: "error", code: "CANCELLED" });
        ended.add("id" in frame && frame.id);
      }
      expect(await caller.drain()).toEqual([]);
      // Those of another connection go on.
      expect(await other.drain()).toEqual([]);
      await caller.call("stop", "TaskStop", { task_id: bash_id });
      expect(await other.answer("other")).toMatchObject({ type: "success" });
    });

    it("are cancelled by id, once; an unknown id cancels nothing", async () => {
      const caller = await open();
      for (const id of ["a", "b"]) caller.send({ id, tool: "Bash", input: { command: "sleep 30" } });
      caller.send({ action: "cancel", id: "nobody" });
      caller.send({ action: "cancel", id: "a" });
      expect(await caller.next()).toMatchObject({ id: "a", type: "error", code: "CANCELLED" });
      caller.send({ action: "cancel", id: "a" });
      expect(await caller.drain()).toEqual([]);
      caller.send({ action: "cancel", id: "b" });
      expect(await caller.next()).toMatchObject({ id: "b", type: "error", code: "CANCELLED" });
    });
  });

  describe("live output", () => {
    it("comes before the answer, byte for byte, to those who asked", async () => {
      const caller = await open();
      const input = { command: "echo one; sleep 0.1; echo two; echo three >&2" };
      caller.send({ id: "quiet", tool: "Bash", input });
      expect((await caller.until("quiet")).map(({ type }) => type)).toEqual(["success"]);
      caller.send({ id: "live", tool: "Bash", input, stream: true });
      const frames = await caller.until("live");
      let offset = 0;
      for (const frame of frames.slice(0, -1)) {
        expect(frame).toMatchObject({ id: "live", type: "output", offset });
        if (frame.type === "output") offset += Buffer.byteLength(frame.data);
      }
      expect(offset).toBe("one\ntwo\nthree\n".length);
      expect(frames.at(-1)).toMatchObject({ type: "success" });
    });

    it("is left out for one who does not read, who is told so", async () => {
      const done = join(temporaryFolder(), "done");
      const caller = await open();
      const lines = "head -c 65536 /dev/zero | tr '\\0' x; echo; sleep 0.01";
      const command = `for i in $(seq 400); do ${lines}; done; touch '${done}'`;
      caller.send({ id: "1", tool: "Bash", input: { command }, stream: true });
      expect(await caller.next()).toMatchObject({ type: "output" });
      caller.socket.pause();
      await expect.poll(() => existsSync(done)).toBe(true);
      caller.socket.resume();
      const frames = await caller.until("1");
      const missed = frames.reduce((sum, frame) => sum + (frame.type === "gap" ? frame.frames : 0), 0);
      expect(missed).toBeGreaterThan(0);
      expect(frames.at(-1)).toMatchObject({ type: "success" });
    });

    it("and answers come as bytes on matrx.v1.bin, what the host says as text", async () => {
      const caller = await open({ protocols: ["matrx.v1.bin"] });
      caller.send({ id: "1", tool: "Bash", input: { command: "echo bytes" }, stream: true });
      const came: [string, boolean][] = [];
      while (came.at(-1)?.[0] !== "success") {
        const { frame, isBinary } = await caller.message();
        came.push([frame.type, isBinary]);
      }
      const accepted = DIFFERENCES.saysAccepted[name] ? [["accepted", false]] : [];
      expect(came).toEqual([["hello", false], ...accepted, ["output", true], ["success", true]]);
      caller.send({ action: "ping" });
      expect(await caller.message()).toEqual({ frame: { type: "pong" }, isBinary: false });
    });
  });

  describe("an action", () => {
    it("auth goes on with a good token, and says that another is none", async () => {
      const caller = await open();
      caller.send({ action: "auth", token: host.token });
      expect(await caller.next()).toMatchObject({ type: "authenticated" });
      caller.send({ action: "auth", token: "wrong" });
      expect(await caller.next()).toMatchObject({ id: null, type: "error", code: "UNAUTHENTICATED", hop });
      expect(await caller.call("1", "SystemInfo")).toMatchObject({ type: "success" });
    });

    it("events is for matrx.v1", async () => {
      const caller = await open();
      caller.send({ action: "events" });
      expect(await caller.next()).toMatchObject({ id: null, type: "error", code: "INVALID_PARAMETERS", hop });
      const v1 = await open({ protocols: ["matrx.v1"] });
      expect(await v1.next()).toMatchObject({ type: "hello" });
      v1.send({ action: "events" });
      v1.send({ action: "events", after: "no uuid" });
      expect(await v1.next()).toMatchObject({ id: null, type: "error", code: "INVALID_PARAMETERS", hop });
    });
  });

  describe("a connection that ends", () => {
    it("is closed with the code that the caller gave", async () => {
      const caller = await open();
      caller.socket.close(4999, "enough");
      expect(await caller.closed).toBe(4999);
    });

    it("after half of it was closed is closed whole", async () => {
      const caller = await open();
      const { _socket: line } = caller.socket as unknown as { _socket: import("node:net").Socket };
      line.end();
      expect(await caller.closed).toBe(DIFFERENCES.endsHalfClosed[name]);
    });

    it("leaves calls with an effect running, but for those that were to end with it", async () => {
      const folder = temporaryFolder();
      const [on, off] = [crypto.randomUUID(), crypto.randomUUID()];
      const goesOn = { command: `touch '${folder}/on'; until [ -e '${folder}/go' ]; do sleep 0.02; done` };
      const stops = { command: `touch '${folder}/off'; sleep 60` };
      const caller = await open();
      caller.send({ id: "on", tool: "Bash", input: goesOn, idempotency_key: on });
      caller.send({
        id: "off",
        tool: "Bash",
        input: stops,
        idempotency_key: off,
        cancel_on_disconnect: true,
      });
      await expect.poll(() => ["on", "off"].every((name) => existsSync(join(folder, name)))).toBe(true);
      caller.socket.terminate();
      const again = await open();
      const stopped = await again.call("off", "Bash", stops, { idempotency_key: off });
      expect(stopped).toMatchObject({ type: "error", code: "CANCELLED" });
      await again.call("go", "Bash", { command: `touch '${folder}/go'` });
      const finished = await again.call("on", "Bash", goesOn, { idempotency_key: on });
      expect(finished).toMatchObject({ type: "success" });
    });
  });
});
