/** The question of a program that is gone is withdrawn, however it asked: the relay finds out by the real connection. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { LONG } from "../helpers/long-mode.ts";
import { connectMcp, type Era } from "./mcp-client.ts";
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
afterAll(() => rig?.stop());

interface Wish {
  readonly file_path: string;
  readonly content: string;
}

/** Asks; what it returns is how the program ends. */
type Program = (input: Wish) => Promise<() => unknown>;

function byFetch(path: string, bodyOf: (input: Wish) => object, headers: object = {}): Program {
  return async (input) => {
    const stop = new AbortController();
    const { signal } = stop;
    const own = { Authorization: `Bearer ${ai.token}`, "Content-Type": "application/json", ...headers };
    const url = `${rig.relay.url}${path.replace("DEVICE", rig.device)}`;
    fetch(url, { method: "POST", signal, headers: own, body: JSON.stringify(bodyOf(input)) }).catch(
      () => undefined,
    );
    return () => stop.abort();
  };
}

function byMcp(era: Era, path: string): Program {
  return async (input) => {
    const url = new URL(path.replace("DEVICE", rig.device), rig.relay.url);
    const client = await connectMcp(era, { url, token: ai.token });
    const more = path === "/mcp" ? { device: rig.device } : {};
    client.callTool({ name: "Write", arguments: { ...input, ...more } }).catch(() => undefined);
    return () => client.close();
  };
}

const rpc = (input: Wish) => {
  const params = { name: "Write", arguments: input };
  return { jsonrpc: "2.0", id: 1, method: "tools/call", params };
};

/** By how long it takes: the first closes its connection to cancel. */
const PROGRAMS: readonly [string, Program][] = [
  ["a client of the newest MCP", byMcp("auto", "/mcp/d/DEVICE")],
  ["the same, at all devices", byMcp("auto", "/mcp")],
  ["a client of older MCP", byMcp("legacy", "/mcp/d/DEVICE")],
  ["the same, at all devices", byMcp("legacy", "/mcp")],
  [
    "a program that speaks MCP without a session",
    byFetch("/mcp/d/DEVICE", rpc, { Accept: "text/event-stream" }),
  ],
  ["a request", byFetch("/v1/devices/DEVICE/tools/Write", (input) => input, { Prefer: "wait=5" })],
  [
    "a request of the guide",
    byFetch("/v1/devices/DEVICE/tools/invoke", (input) => ({ tool: "Write", input })),
  ],
];

it("is withdrawn", { timeout: 120_000 }, async () => {
  const programs = LONG ? PROGRAMS : PROGRAMS.slice(0, 2);
  const gone = programs.map(async ([name, begin]) => {
    const file_path = fileIn(rig);
    const leave = await begin({ file_path, content: "x" });
    const isAsked = async () => (await person.waiting()).some(({ summary }) => summary.includes(file_path));
    await expect.poll(isAsked, { timeout: 10_000, message: name }).toBe(true);
    await leave();
    await expect.poll(isAsked, { timeout: 90_000, interval: 250, message: name }).toBe(false);
  });
  await Promise.all(gone);
});
