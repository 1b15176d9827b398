/**
 * Thousands of idle devices in one process, each the agent's own connection: it signs in with its key, beats, and dials
 * again when the line drops. Told by HTTP: `POST /grow?to=2000` dials more, `GET /` says when each registered last.
 */
import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import { type Identity, signAssertion } from "../../agent/config/identity.ts";
import { keepConnected } from "../../agent/relay/connection.ts";
import { registerFrame } from "../../agent/relay/register.ts";
import type { FleetDevice, FleetSettings, FleetState } from "../fleet/devices.ts";
import { ready, settingsOf } from "../processes.ts";

/** Dialled at once while the fleet grows: a device is not one of thousands that someone switches on together. */
const GROWS_BY = 50;

const { relay, devices: file } = settingsOf<FleetSettings>();
const { host } = new URL(relay);
const devices = JSON.parse(readFileSync(file, "utf8")) as FleetDevice[];
const log = pino({ level: "silent" });
const manifest = { hash: "bench-1", tools: [] };
const forever = new AbortController().signal;

/** When each device was registered last, in milliseconds since 1970; undefined while it is not connected. */
const registeredAt: (number | undefined)[] = [];
let tries = 0;

async function dial(index: number): Promise<void> {
  const { id, publicKey, privateKey } = devices[index] as FleetDevice;
  const identity: Identity = { publicKey, privateKey: createPrivateKey(privateKey) };
  const assertion = { iss: id, aud: host };
  registeredAt[index] = undefined;
  const refusal = await keepConnected(
    {
      url: `ws://${host}/v1/device/ws?device=${id}`,
      manifest: () => manifest,
      credential: await signAssertion(identity, assertion),
      register: async (nonce) =>
        registerFrame({
          device: id,
          manifest,
          journalId: id,
          token: await signAssertion(identity, { ...assertion, nonce }),
        }),
      onState: (state) => {
        if (state === "CONNECTING" || state === "RECONNECTING") tries++;
      },
      onRegistered: () => {
        registeredAt[index] = Date.now();
      },
      onFrame: () => undefined,
      onStreamFrame: () => undefined,
      onGone: () => {
        registeredAt[index] = undefined;
      },
      log,
    },
    forever,
  );
  throw refusal ?? new Error(`device ${id} stopped`);
}

async function grow(to: number): Promise<void> {
  while (registeredAt.length < to) {
    const missing = registeredAt.filter((at) => at === undefined).length;
    if (missing < GROWS_BY) void dial(registeredAt.length);
    else await sleep(5);
  }
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  if (pathname === "/grow") void grow(Number(searchParams.get("to")));
  response.end(
    JSON.stringify({
      registeredAt: registeredAt.filter((at) => at !== undefined),
      tries,
    } satisfies FleetState),
  );
});
server.listen(0, "127.0.0.1", () => ready((server.address() as AddressInfo).port));
