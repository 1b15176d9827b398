/** Devices: one that speaks only the device document, and one that speaks as our agent does. */
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import {
  type DeviceRegister,
  EVERY_GRANT,
  type ToDevice,
  type ToolExecute,
  type ToolPrepare,
  type ToolPrepared,
} from "@matrx/shared/device-frames.ts";
import { effectOf } from "@matrx/shared/effects.ts";
import { hexOf } from "@matrx/shared/ids.ts";
import { encodeOutputFrame, encodeResultFrame, type ResultHeader } from "@matrx/shared/result-frame.ts";
import { PROTOCOL } from "@matrx/shared/tokens.ts";
import { sha256 } from "@noble/hashes/sha2.js";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { json, type Person } from "./relay.ts";
import { ask, ORIGIN } from "./request.ts";
import { TestSocket } from "./socket.ts";

export class BareDevice extends TestSocket {
  static async connect(id: string): Promise<BareDevice> {
    const [ws, headers] = await TestSocket.upgrade(`/v1/device/ws?device=${id}`, {});
    return new BareDevice(ws, headers);
  }

  /** Connects and registers with its token. */
  static async register(id: string, token: string): Promise<BareDevice> {
    const device = await BareDevice.connect(id);
    device.send({
      type: "device_register",
      device_id: id,
      hostname: "bare",
      os: "Linux",
      auth_token: `Bearer ${token}`,
    });
    await device.expect("device_registered");
    return device;
  }

  /** The next frame, which must be of this type. */
  async expect<Type extends ToDevice["type"]>(type: Type): Promise<Extract<ToDevice, { type: Type }>> {
    const frame = await this.nextJson<ToDevice>();
    if (frame.type !== type) throw new Error(`expected ${type}, got ${JSON.stringify(frame)}`);
    return frame as Extract<ToDevice, { type: Type }>;
  }
}

/** The part of a pairing that a device keeps. */
export interface AgentIdentity {
  id: string;
  key: CryptoKey;
}

/** Pairs a device of the kind of our agent. */
export async function pairAgent(person: Person, name = "home"): Promise<AgentIdentity> {
  const { publicKey, privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  const { x = "" } = await exportJWK(publicKey);
  const wish = { name, hostname: name, os: "Linux", os_version: "6.1", public_key: x };
  const started = await (
    await ask("/v1/pairings", json(wish, { "CF-Connecting-IP": crypto.randomUUID() }))
  ).json<{ code: string }>();
  const { device } = await person.post<{ device: string }>(`/v1/pairings/${started.code}/confirm`, {});
  return { id: device, key: privateKey };
}

export const TOOLS = [
  { name: "Read", description: "Reads", effect: "read", input_schema: { type: "object" } },
  { name: "SystemInfo", description: "Tells", effect: "read", input_schema: { type: "object" } },
  {
    name: "Bash",
    description: "Runs",
    effect: "execute",
    input_schema: { type: "object" },
    timeout_ms: 600_000,
  },
  { name: "Write", description: "Writes", effect: "write", input_schema: { type: "object" } },
];

const UNASKED: ReadonlySet<string> = new Set(["result_ack", "call_status", "system_command", "audit_head"]);

interface Coming extends Pick<DeviceRegister, "ledger_id" | "last_calls" | "paused"> {
  journal?: string;
  manifest?: string;
  /** The version of the device link that it speaks. */
  protocol?: number;
  /** What its own policy asks about. */
  ask?: unknown[];
}

export class AgentDevice extends BareDevice {
  readonly id: string;
  /** The relay's ledger, as it named it. */
  ledger: string | undefined;

  protected constructor(ws: WebSocket, headers: Headers, id: string) {
    super(ws, headers);
    this.id = id;
  }

  /** Connects as our agent does and registers; the relay may ask for the manifest, which is given. */
  static async come(
    { id, key }: AgentIdentity,
    { journal = "journal-1", manifest = "manifest-1", protocol = PROTOCOL, ask, ...ledger }: Coming = {},
  ): Promise<AgentDevice> {
    const device = await AgentDevice.dial(id);
    device.send({
      ...(await registerFrame(id, key, device.nonce, { journal, manifest })),
      protocol,
      ...ledger,
    });
    const registered = await device.expect("device_registered");
    device.ledger = registered.ledger_id;
    if (registered.manifest_wanted) device.send({ type: "manifest", hash: manifest, tools: TOOLS, ask });
    return device;
  }

  static async dial(id: string, headers: Record<string, string> = {}): Promise<AgentDevice> {
    const [ws, answered] = await TestSocket.upgrade(`/v1/device/ws?device=${id}`, headers);
    return new AgentDevice(ws, answered, id);
  }

  /** Dials with the device's own credential, as our agent does. */
  static async dialVouched({ id, key }: AgentIdentity, headers = {}): Promise<AgentDevice> {
    const token = await assertionOf({ id, key }, {});
    return AgentDevice.dial(id, { ...headers, Authorization: `Bearer ${token}` });
  }

  /** Some frames come when they come; a test that does not ask for one passes them over. */
  override async expect<Type extends ToDevice["type"]>(
    type: Type,
  ): Promise<Extract<ToDevice, { type: Type }>> {
    const frame = await this.nextJson<ToDevice>();
    if (frame.type === type) return frame as Extract<ToDevice, { type: Type }>;
    const isOfPolicy = frame.type === "session_end" && frame.grant === EVERY_GRANT;
    if (isOfPolicy || UNASKED.has(frame.type)) return this.expect(type);
    throw new Error(`expected ${type}, got ${JSON.stringify(frame)}`);
  }

  get nonce(): string {
    return this.headers.get("Matrx-Nonce") ?? "";
  }

  /** Answers a call as our agent writes it. */
  answer(
    execute: ToolExecute,
    output: string,
    header: Partial<ResultHeader> = {},
    answer: Partial<Answer> = {},
  ): void {
    const { id, tool, tool_call_id: call } = execute;
    const status = header.status ?? "success";
    const type = status === "success" ? "success" : "error";
    const body: Answer = { ...(id !== undefined && { id }), type, output, call, device: this.id, ...answer };
    if (id === undefined) body.image = null;
    this.sendBinary(encodeResultFrame({ call, tool, status, ms: 1, ...header }, bytesOf(body)));
  }

  /** Takes the next call to be prepared, and has a person asked about it. */
  async prepare(facts: Partial<ToolPrepared> = {}): Promise<ToolPrepare> {
    const prepare = await this.expect("tool_prepare");
    this.prepared(prepare, facts);
    return prepare;
  }

  /** What our agent says of a call that it prepared. */
  prepared({ tool_call_id, tool, parameters }: ToolPrepare, facts: Partial<ToolPrepared> = {}): void {
    const input = JSON.stringify(parameters);
    const question = { summary: `${tool} ${input}`, tool, effect: effectOf(tool), input, warnings: [] };
    const binding = hexOf(sha256(bytesOf({ tool, parameters })));
    this.send({ type: "tool_prepared", tool_call_id, ask: true, binding, question, ...facts });
  }

  output(execute: ToolExecute, offset: number, data: string): void {
    const frame = { id: execute.id, type: "output", channel: "stdout", offset, data };
    this.sendBinary(encodeOutputFrame({ call: execute.tool_call_id }, bytesOf(frame)));
  }

  /** Takes the next call and answers it. */
  async serve(output: string): Promise<ToolExecute> {
    const execute = await this.expect("tool_execute");
    this.answer(execute, output);
    return execute;
  }
}

export async function registerFrame(
  id: string,
  key: CryptoKey,
  nonce: string,
  { journal = "journal-1", manifest = "manifest-1", audience = new URL(ORIGIN).host } = {},
): Promise<Record<string, unknown>> {
  const assertion = await assertionOf({ id, key }, { nonce }, audience);
  return {
    type: "device_register",
    device_id: id,
    hostname: "home",
    os: "Linux",
    os_version: "6.1",
    protocol: PROTOCOL,
    agent_version: "0.1.0",
    manifest_hash: manifest,
    journal_id: journal,
    auth_token: `Bearer ${assertion}`,
  };
}

/** What a device signs for a connection. */
export function assertionOf(
  { id, key }: AgentIdentity,
  claims: { nonce?: string },
  audience = new URL(ORIGIN).host,
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: "EdDSA" })
    .setIssuer(id)
    .setAudience(audience)
    .sign(key);
}

function bytesOf(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
