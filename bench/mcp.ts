/**
 * `npm run bench mcp`: what `tools/call` costs over each of our MCP servers, beside the same call over REST and
 * supergateway in front of server-filesystem, all reading one tiny file in turns. `npm run test:mcp` installs the last
 * two; without them they are left out. `--quick`: fewer rounds. Results: bench/mcp-results.json.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { MATRX_BIN } from "../scripts/matrx-bin.ts";
import { STRANGERS } from "../scripts/tree.ts";
import { say, withProcesses } from "./interrupt.ts";
import { describeMachine } from "./machine.ts";
import type { Processes } from "./processes.ts";
import { shuffled } from "./rounds.ts";
import { Size } from "./size.ts";
import { ratioOf, type Spread, spreadOf } from "./spread.ts";
import { printMachine, withSpread } from "./table.ts";
import { startAgent } from "./variants/agent.ts";
import { startOurs } from "./variants/ours.ts";

const size = new Size();
const ROUNDS = size.pick(25, 5, 1);
const CALLS = size.pick(40, 40, 8);
const WARM_UP = size.pick(60, 60, 1);
/** No faster, in milliseconds: a caller has 50 messages a second, and two rows share one. */
const ROUND_EVERY = size.pick(4000, 4000, 0);
const GIVE_UP = 600_000;
const READY_WITHIN = 20_000;

const RESULTS = new URL("./mcp-results.json", import.meta.url);
const BASE = "supergateway + server-filesystem";

interface Server {
  readonly name: string;
  call(): Promise<unknown>;
}

await withProcesses(GIVE_UP, run);

async function run(processes: Processes): Promise<void> {
  const machine = describeMachine();
  printMachine(machine);
  const file = join(processes.folder, "tiny.txt");
  writeFileSync(file, "hello\n");
  const servers = [...(await ours(processes, file)), ...(await others(processes, file))];
  for (const { name, call } of servers) {
    say(`Warming up: ${name}`);
    for (let calls = 0; calls < WARM_UP; calls++) await call();
  }
  const shapes = [1, 8].map((inFlight) => ({ inFlight, times: new Map<string, number[]>() }));
  for (let round = 1; round <= ROUNDS; round++) {
    const pause = sleep(ROUND_EVERY);
    for (const { inFlight, times } of shapes)
      for (const server of shuffled([...servers]))
        times.set(server.name, [...(times.get(server.name) ?? []), await timeOf(server, inFlight)]);
    say(`Round ${round} of ${ROUNDS}`);
    await pause;
  }
  const tables = shapes.map(({ inFlight, times }) => ({ in_flight: inFlight, rows: rowsOf(times) }));
  for (const table of tables) print(table);
  const date = new Date().toISOString();
  const found = { date, quick: size.quick, rounds: ROUNDS, calls: CALLS, machine, base: BASE, tables };
  size.keep(RESULTS, JSON.stringify(found, undefined, 2));
}

/** Microseconds for each call, with so many in flight. */
async function timeOf({ call }: Server, inFlight: number): Promise<number> {
  const began = performance.now();
  const worker = async () => {
    for (let calls = 0; calls < CALLS; calls += inFlight) await call();
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return ((performance.now() - began) * 1000) / CALLS;
}

interface Row {
  name: string;
  us: Spread;
  ratio: Spread | undefined;
}

function rowsOf(times: ReadonlyMap<string, number[]>): Row[] {
  const base = times.get(BASE) ?? [];
  return [...times].map(([name, values]) => ({ name, us: spreadOf(values), ratio: ratioOf(values, base) }));
}

function print({ in_flight, rows }: { in_flight: number; rows: Row[] }): void {
  console.log(`\n${in_flight} in flight: microseconds for each call, ratio to ${BASE}`);
  for (const { name, us, ratio } of rows.toSorted((a, b) => a.us.median - b.us.median))
    console.log(`  ${name.padEnd(40)} ${withSpread(us, 0).padStart(22)}  ${withSpread(ratio, 2)}`);
}

async function ours(processes: Processes, file: string): Promise<Server[]> {
  const relay = await startOurs(processes);
  const { device } = await startAgent(processes, relay, join(processes.folder, "agent"));
  const token = { Authorization: `Bearer ${relay.token}` };
  const rest = async () => {
    const response = await fetch(`${relay.url}/v1/devices/${device}/tools/Read`, {
      method: "POST",
      headers: { ...token, "Content-Type": "application/json" },
      body: JSON.stringify({ file_path: file }),
    });
    if (!response.ok) throw new Error(`REST answered ${response.status}`);
    return await response.text();
  };
  await ready(rest);
  const input = { file_path: file };
  const all = { name: "Read", arguments: { ...input, device } };
  const one = { name: "Read", arguments: input };
  const home = join(processes.folder, "stdio");
  mkdirSync(home);
  const stdio = new StdioClientTransport({
    command: process.execPath,
    args: [MATRX_BIN, "mcp"],
    env: { ...(process.env as Record<string, string>), MATRX_HOME: home },
  });
  return [
    { name: "REST", call: rest },
    await httpServer(processes, "/mcp", `${relay.url}/mcp`, all, "auto", token),
    await httpServer(processes, "/mcp/d/{device}", `${relay.url}/mcp/d/${device}`, one, "auto", token),
    await httpServer(
      ...([processes, "/mcp/d/{device}, sessions", `${relay.url}/mcp/d/${device}`] as const),
      ...([one, "legacy", token] as const),
    ),
    await mcpServer(processes, "matrx mcp", stdio, one, "auto"),
  ];
}

async function others(processes: Processes, file: string): Promise<Server[]> {
  const bin = join(STRANGERS, "node_modules/.bin");
  if (!existsSync(join(bin, "supergateway"))) {
    console.log("supergateway and server-filesystem are left out: npm run test:mcp installs them");
    return [];
  }
  const read = { name: "read_text_file", arguments: { path: file } };
  const program = join(bin, "mcp-server-filesystem");
  const port = await freePort();
  const gateway = join(STRANGERS, "node_modules/supergateway/dist/index.js");
  processes.spawn(
    process.execPath,
    [
      ...[gateway, "--stdio", `${program} ${processes.folder}`, "--outputTransport", "streamableHttp"],
      ...["--stateful", "--port", String(port), "--logLevel", "none"],
    ],
    { stdio: "ignore" },
  );
  const url = `http://localhost:${port}/mcp`;
  await ready(() => fetch(url));
  const stdio = new StdioClientTransport({ command: program, args: [processes.folder], stderr: "ignore" });
  return [
    await httpServer(processes, BASE, url, read, "legacy", {}),
    await mcpServer(processes, "server-filesystem, stdio", stdio, read, "legacy"),
  ];
}

type Call = Parameters<Client["callTool"]>[0];

function httpServer(
  processes: Processes,
  name: string,
  url: string,
  call: Call,
  era: "auto" | "legacy",
  headers: Record<string, string>,
): Promise<Server> {
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  return mcpServer(processes, name, transport, call, era);
}

async function mcpServer(
  processes: Processes,
  name: string,
  transport: Parameters<Client["connect"]>[0],
  call: Call,
  era: "auto" | "legacy",
): Promise<Server> {
  const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode: era } });
  await client.connect(transport);
  processes.atEnd(() => client.close());
  return {
    name,
    async call() {
      const result = await client.callTool(call);
      if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content)}`);
    },
  };
}

async function ready(attempt: () => Promise<unknown>): Promise<void> {
  const until = performance.now() + READY_WITHIN;
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
      await sleep(100);
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
