/** The places where one machine's caller API is served: by the relay, at its root, and by the local server. */
import { expect } from "vitest";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { connectMachine } from "../helpers/machine.ts";
import { startRelay } from "../helpers/relay.ts";
import { startLocalServer } from "./local-server.ts";

export type BaseName = "relay" | "root" | "local";

export interface Base {
  readonly name: BaseName;
  readonly url: string;
  /** Whose word a refusal of the request itself is. */
  readonly hop: "relay" | "agent";
  /** A request with the token; a `body` that is neither text nor a stream is sent as JSON. */
  ask(line: `${string} /${string}`, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** Starts them; `stop` ends all. */
export async function startBases(): Promise<Record<BaseName, Base> & { stop: () => Promise<void> }> {
  const relay = await startRelay();
  const machine = await connectMachine(relay);
  const token = await relay.token();
  const folders = { home: makeFolder(), temporary: makeFolder() };
  const server = await startLocalServer(folders);
  return {
    relay: makeBase("relay", `${relay.url}/v1/devices/${machine.id}`, token),
    root: makeBase("root", relay.url, token),
    local: makeBase("local", server.url, server.token),
    stop: async () => {
      await server.child.stop(5000);
      await machine.agent.stop();
      await relay.stop();
      for (const folder of Object.values(folders)) removeFolder(folder);
    },
  };
}

function makeBase(name: BaseName, url: string, token: string | undefined): Base {
  return {
    name,
    url,
    hop: name === "local" ? "agent" : "relay",
    ask: (line, body, headers = {}) => {
      const [method = "", path] = line.split(" ");
      const isReady = body === undefined || typeof body === "string" || body instanceof ReadableStream;
      const sent = isReady ? body : JSON.stringify(body);
      return fetch(url + path, {
        method,
        headers: {
          Authorization: `Bearer ${token}`,
          ...(sent !== undefined && { "Content-Type": "application/json" }),
          ...headers,
        },
        ...(sent !== undefined && { body: sent, duplex: "half" as const }),
      });
    },
  };
}

/** The answer's JSON, once its status and type are as expected. */
export async function jsonOf(response: Response, status = 200): Promise<Record<string, unknown>> {
  const text = await response.text();
  expect([response.status, text.slice(0, 500)]).toEqual([status, expect.anything()]);
  const type =
    status < 300 || text.startsWith('{"type":"error"') ? "application/json" : "application/problem+json";
  expect(response.headers.get("Content-Type")).toBe(type);
  return JSON.parse(text);
}

/** Events of a call, by name, with their data. */
export async function eventsOf(response: Response): Promise<[string, Record<string, unknown>][]> {
  expect([response.status, response.headers.get("Content-Type")]).toEqual([200, "text/event-stream"]);
  const blocks = (await response.text()).split("\n\n").filter((block) => block.startsWith("event: "));
  return blocks.map((block) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
    return [field("event"), JSON.parse(field("data"))];
  });
}
