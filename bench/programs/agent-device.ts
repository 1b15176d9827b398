/**
 * A device that does no work, on our agent's link: signs in with its key, and answers calls in result frames. Given a
 * journal, it writes effects down in it as the agent does.
 */
import { createPrivateKey, hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { SignJWT } from "jose";
import { type RawData, WebSocket } from "ws";
import { Journal } from "../../agent/core/journal.ts";
import type { ToDevice, ToolExecute } from "../../shared/device-frames.ts";
import { effectOf } from "../../shared/effects.ts";
import { encodeResultFrame, type ResultHeader } from "../../shared/result-frame.ts";
import { NONCE_HEADER, PROTOCOL } from "../../shared/tokens.ts";
import type { Manifest } from "../../shared/tool.ts";
import { answerFrame } from "../frames.ts";
import { ready, settingsOf } from "../processes.ts";

export interface AgentDeviceSettings extends Record<string, string> {
  /** Address of the relay, `http://host:port`. */
  relay: string;
  device: string;
  /** PKCS #8, PEM. */
  privateKey: string;
  /** File of the agent's journal; empty: none. */
  journal: string;
}

const { relay, device, privateKey, journal: journalFile } = settingsOf<AgentDeviceSettings>();
const { host } = new URL(relay);
const journal = journalFile ? new Journal(journalFile) : undefined;
const manifest: Manifest = {
  hash: "bench-1",
  tools: ["Read", "Write"].map((name) => ({
    name,
    description: "Does nothing",
    effect: effectOf(name),
    input_schema: { type: "object" },
  })),
};

const socket = new WebSocket(`ws://${host}/v1/device/ws?device=${device}`, { perMessageDeflate: false });
let nonce = "";
socket.on("upgrade", ({ headers }: IncomingMessage) => {
  nonce = String(headers[NONCE_HEADER.toLowerCase()]);
});
socket.on("open", () => void register());
socket.on("message", (data: RawData) => receive(JSON.parse(data.toString()) as ToDevice));
socket.on("close", (code, reason) => {
  console.error(`bench: the relay closed the device's socket (${code} ${reason})`);
  process.exit(1);
});

async function register(): Promise<void> {
  const assertion = await new SignJWT({ iss: device, aud: host, nonce })
    .setProtectedHeader({ alg: "EdDSA" })
    .sign(createPrivateKey(privateKey));
  send({
    type: "device_register",
    device_id: device,
    hostname: "bench",
    os: "bench",
    protocol: PROTOCOL,
    agent_version: "bench",
    manifest_hash: manifest.hash,
    journal_id: journal?.id ?? "none",
    auth_token: `Bearer ${assertion}`,
  });
}

function receive(frame: ToDevice): void {
  if (frame.type === "tool_execute") void run(frame);
  // The relay asks for a sign of life after the silence between two series.
  else if (frame.type === "call_status") send({ type: "call_status", calls: [] });
  else if (frame.type === "result_ack") journal?.acknowledge(frame.tool_call_ids);
  else if (frame.type === "device_registered") {
    if (frame.manifest_wanted) send({ type: "manifest", ...manifest });
    ready(0);
  } else if (frame.type === "error") throw new Error(`the relay said: ${frame.message}`);
}

const encoder = new TextEncoder();

async function run({ tool_call_id, tool, id, parameters }: ToolExecute): Promise<void> {
  const isEffect = effectOf(tool) !== "read";
  if (isEffect && journal) await journal.begin(tool_call_id, tool);
  const body = encoder.encode(answerFrame(id, parameters));
  const header: ResultHeader = { call: tool_call_id, tool, status: "success", ms: 0 };
  if (isEffect) Object.assign(header, { sha256: hash("sha256", body, "hex"), preview: "Done" });
  if (isEffect && journal) journal.finish(tool_call_id, { header, body });
  socket.send(encodeResultFrame(header, body));
}

function send(frame: object): void {
  socket.send(JSON.stringify(frame));
}
