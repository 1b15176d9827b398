/** Our embedded relay, with every check on: authentication, envelope, effect, policy, rates; effects in the ledger. */
import { join } from "node:path";
import { startRelay } from "../../scripts/start/relay.ts";
import { emptyWork, longWork, type Work } from "../frames.ts";
import { httpLine } from "../http-line.ts";
import { Owner } from "../owner.ts";
import type { Processes } from "../processes.ts";
import type { AgentDeviceSettings } from "../programs/agent-device.ts";
import { socketLine } from "../socket-line.ts";
import type { Variant } from "../variant.ts";

export interface OurRelay {
  owner: Owner;
  url: string;
  port: number;
  pid: number;
  token: string;
  stop(): Promise<void>;
}

/** `config`: workerd's configuration, if it is not this tree's. */
export async function startOurs(processes: Processes, folder = "ours", config?: string): Promise<OurRelay> {
  const starting = startRelay({ dataDir: join(processes.folder, folder), port: 0, config });
  processes.atEnd(async () => (await starting.catch(() => undefined))?.stop());
  const relay = await starting;
  const { url, port, pid, stop } = relay;
  if (pid === undefined) throw new Error("our relay has no process");
  const owner = await Owner.signIn(relay);
  return { owner, url, port, pid, token: await owner.token(), stop };
}

/** A moment later the record is told of calls, outcomes of effects are acknowledged, and noted as such in the journal. */
export const AFTERMATH = 300;

/** A line of calls to one device. */
export function callLine({ port, token }: OurRelay, device: string, work: Work) {
  const url = `ws://127.0.0.1:${port}/v1/devices/${device}/ws`;
  return socketLine(url, work, { headers: { authorization: `Bearer ${token}` } });
}

export interface OurVariants {
  read: Variant;
  rest: Variant;
  mcp: Variant;
  /** A ledger row, and no journal on the device. */
  ledger: Variant;
  /** A ledger row, and the agent's journal on the device. */
  journal: Variant;
}

/** Our relay in front of devices that do no work, so that the relay is what is compared. */
export async function ours(processes: Processes, relay: OurRelay): Promise<OurVariants> {
  const plain = await startDevice(processes, relay, "");
  const journalling = await startDevice(
    processes,
    relay,
    join(processes.folder, `journal-${relay.port}.sqlite`),
  );
  const { port, pid, token } = relay;
  const read = emptyWork("Read");
  const rest = {
    port,
    path: `/v1/devices/${plain}/tools/${read.tool}`,
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(read.input),
  };
  const mcp = { ...mcpRequest(read), port, path: `/mcp/d/${plain}`, answers: '"resultType":"complete"' };
  mcp.headers = { ...mcp.headers, ...rest.headers };
  const effect = async (name: string, device: string): Promise<Variant> => {
    const line = await callLine(relay, device, emptyWork("Write"));
    return { name, line, relay: pid, aftermath: AFTERMATH };
  };
  return {
    read: { name: "ours", line: await callLine(relay, plain, read), relay: pid, aftermath: AFTERMATH },
    rest: { name: "ours", line: httpLine(rest, read), relay: pid, aftermath: AFTERMATH },
    mcp: { name: "ours", line: httpLine(mcp, read), relay: pid, aftermath: AFTERMATH },
    ledger: await effect("effect, ledger", plain),
    journal: await effect("effect, ledger and journal", journalling),
  };
}

const MCP_VERSION = "2026-07-28";

/** A call by the protocol's version without sessions, whose headers repeat what is in the body. */
function mcpRequest({ tool, input }: Work) {
  const of = "io.modelcontextprotocol";
  const _meta = {
    [`${of}/protocolVersion`]: MCP_VERSION,
    [`${of}/clientInfo`]: { name: "bench", version: "1" },
    [`${of}/clientCapabilities`]: {},
  };
  const params = { name: tool, arguments: input, _meta };
  const headers: Record<string, string> = {
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": MCP_VERSION,
    "mcp-method": "tools/call",
    "mcp-name": tool,
  };
  return { headers, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }) };
}

/** Results of 1 MiB, through a process of their own, as `rawObjectLong`. */
export async function oursLong(processes: Processes): Promise<Variant> {
  const relay = await startOurs(processes, "ours-long");
  const device = await startDevice(processes, relay, "");
  return { name: "ours", line: await callLine(relay, device, longWork()), relay: relay.pid };
}

/** Pairs and starts a device; returns its id. */
async function startDevice(processes: Processes, relay: OurRelay, journal: string): Promise<string> {
  const { id, identity } = await relay.owner.pairDevice("bench");
  const privateKey = identity.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const settings: AgentDeviceSettings = { relay: relay.url, device: id, privateKey, journal };
  await processes.start("agent-device", settings);
  return id;
}
