/** Checks each hop of `matrx status` by using it. Hops after a failed one are not tried. */

import { pathOf } from "@matrx/client/http/relay-client.ts";
import { accountViewSchema, deviceViewSchema } from "@matrx/shared/api.ts";
import { answerSchema } from "@matrx/shared/caller/to-caller.ts";
import { callerError, deviceError, type ErrorShape, shapeOf } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { type Home, homeOf } from "../../config/app-dirs.ts";
import { readConfig } from "../../config/config.ts";
import { placeOf, proxyFor } from "../../network/proxy.ts";
import { agentHome } from "../agent-home.ts";
import { type CallerOptions, callerOf, relayOf } from "../client/credentials.ts";
import { findDevice } from "../client/find-device.ts";
import { relayAt } from "../client/relay.ts";
import { ago, openAlerts } from "../output/print.ts";
import { SIGNED_IN_BY } from "../output/token-view.ts";

export interface Hop {
  hop: "machine" | "relay" | "account" | "device" | "tool";
  /** Undefined if not tried, because a hop before it failed. */
  ok: boolean | undefined;
  fact: string;
  ms?: number;
  error?: ErrorShape;
}

interface Journey {
  /** Of the caller, and of this machine's agent. */
  home: Home;
  agent: Home;
  options: CallerOptions;
  wanted: string | undefined;
  device: string;
}

type Step = (journey: Journey) => Promise<string> | string;

const STEPS: readonly [Hop["hop"], Step][] = [
  ["machine", readOwnConfig],
  ["relay", reachRelay],
  ["account", signedIn],
  ["device", registered],
  ["tool", proveByCall],
];

/** From here to a tool on the device; the last hop is a real call of `SystemInfo`. */
export async function checkHops(wanted: string | undefined, options: CallerOptions): Promise<Hop[]> {
  const journey: Journey = { home: homeOf(), agent: agentHome(), options, wanted, device: "" };
  const hops: Hop[] = [];
  for (const [hop, step] of STEPS) {
    if (hops.some(({ ok }) => ok === false)) hops.push({ hop, ok: undefined, fact: "not tried" });
    else hops.push(await take(hop, step, journey));
  }
  return hops;
}

async function take(hop: Hop["hop"], step: Step, journey: Journey): Promise<Hop> {
  const began = performance.now();
  try {
    return { hop, ok: true, fact: await step(journey), ms: Math.round(performance.now() - began) };
  } catch (cause) {
    const error = shapeOf(cause, "caller", crypto.randomUUID().slice(0, 8));
    return { hop, ok: false, fact: error.message, error };
  }
}

function readOwnConfig({ home, agent, options, wanted }: Journey): string {
  const config = readConfig(agent);
  if (config) return `paired as ${config.device_id} at ${config.relay}`;
  if (wanted !== undefined || mayCall(options, home)) return "not paired: it only calls other machines";
  throw callerError("UNKNOWN_DEVICE", "This machine is not paired, and no device was given", {
    hint: "Give one (matrx status DEVICE), or pair this machine: matrx up --relay https://your-relay",
  });
}

function mayCall(options: CallerOptions, home: Home): boolean {
  try {
    return callerOf(options, home).token !== undefined;
  } catch {
    return false;
  }
}

/** Gets the relay's public keys, which need no sign-in. */
async function reachRelay({ home, options }: Journey): Promise<string> {
  const relay = relayOf(options, home);
  await relayAt(relay).get("/.well-known/jwks.json", z.object({ keys: z.array(z.unknown()).min(1) }));
  const proxy = proxyFor(new URL(relay));
  return `${relay} answers${proxy ? ` through the proxy at ${placeOf(proxy)}` : ""}`;
}

async function signedIn({ home, options }: Journey): Promise<string> {
  const { account, name, kind, expires } = await callerOf(options, home).get(
    "/v1/account",
    accountViewSchema,
  );
  return `signed in as ${account} by ${SIGNED_IN_BY[kind]} "${name}" until ${expires.slice(0, 10)}`;
}

async function registered(journey: Journey): Promise<string> {
  const { home, agent, options, wanted } = journey;
  const client = callerOf(options, home);
  journey.device = await findDevice(client, wanted ?? readConfig(agent)?.device_id);
  const device = await client.get(pathOf("v1", "devices", journey.device), deviceViewSchema);
  if (device.state === "ONLINE" || device.state === "IDLE") {
    const { alerts = 0, os, agent_version: version } = device;
    const about = `${device.name} is ${device.state} (${os ?? "system unknown"}, agent ${version ?? "unknown"})`;
    return alerts === 0 ? about : `${about}, with ${openAlerts(alerts)}: matrx events ${device.id} --open`;
  }
  throw deviceError(
    "DEVICE_OFFLINE",
    `${device.name} is ${device.state}, last seen ${ago(device.last_seen)}`,
    { hint: "On that machine run: matrx up" },
  );
}

async function proveByCall({ home, options, device }: Journey): Promise<string> {
  const client = callerOf(options, home);
  const began = performance.now();
  const reply = await client.send("POST", pathOf("v1", "devices", device, "tools", "SystemInfo"), {
    body: {},
  });
  const ms = Math.round(performance.now() - began);
  const answer = answerSchema.parse(reply.body);
  const [first = ""] = answer.output.split("\n");
  return `SystemInfo answered in ${ms} ms: ${first}`;
}
