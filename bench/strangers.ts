/**
 * `npm run bench strangers`: does the time of an answer tell whether another account's device exists? Asks for its id and for
 * ids that were never issued, in turn, and reports the ratio of their medians: 1.00 tells nothing. `--quick`: fewer requests.
 */
import { exportJWK, generateKeyPair } from "jose";
import { request, signIn } from "../scripts/start/owner.ts";
import { startRelay } from "../scripts/start/relay.ts";
import { createdDeviceSchema } from "../shared/api.ts";
import { randomBase32 } from "../shared/ids.ts";
import { createdInviteSchema } from "../shared/invite-api.ts";
import { signedInSchema } from "../shared/session-api.ts";
import { makeFolder, removeFolder } from "../test/helpers/folder.ts";
import { describeMachine } from "./machine.ts";
import { Size } from "./size.ts";
import { ratioOf, type Spread, spreadOf } from "./spread.ts";
import { printMachine } from "./table.ts";

const size = new Size();
const ROUNDS = size.pick(20, 5, 1);
const REQUESTS = size.pick(200, 200, 10);

const folder = makeFolder();
const relay = await startRelay({ port: 0, dataDir: folder });
try {
  await measure();
} finally {
  await relay.stop();
  removeFolder(folder);
}

async function measure(): Promise<void> {
  const owner = await signIn(relay);
  const { device } = await request(relay, owner, "POST /v1/devices", createdDeviceSchema, { name: "secret" });
  const stranger = await signInStranger();
  // The same directory object answers for ids with the same first random character.
  const never = () => `${device.id.slice(0, -9)}${randomBase32(9)}`;
  const theirs: number[] = [];
  const none: number[] = [];
  const fresh: number[] = [];
  const known = never();
  for (let round = 0; round < ROUNDS; round++) {
    const times = { theirs: [] as number[], none: [] as number[], fresh: [] as number[] };
    for (let n = 0; n < REQUESTS; n++) {
      times.theirs.push(await timeOf(stranger, device.id));
      times.none.push(await timeOf(stranger, known));
      times.fresh.push(await timeOf(stranger, never()));
    }
    theirs.push(spreadOf(times.theirs).median);
    none.push(spreadOf(times.none).median);
    fresh.push(spreadOf(times.fresh).median);
  }
  printMachine(describeMachine());
  report("another account's device", theirs);
  report("one id that was never issued", none, theirs);
  report("another such id each time", fresh, theirs);
}

async function signInStranger(): Promise<string> {
  const invite = await request(relay, await signIn(relay), "POST /v1/invites", createdInviteSchema, {
    name: "stranger",
  });
  const { kty, crv, x, y } = await exportJWK((await generateKeyPair("ES256")).publicKey);
  const body = { code: invite.link.split("#invite=")[1], name: "stranger", key: { kty, crv, x, y } };
  return (await request(relay, undefined, "POST /v1/invites/accept", signedInSchema, body)).access_token;
}

/** Milliseconds until the refusal has been read. */
async function timeOf(token: string, device: string): Promise<number> {
  const begin = performance.now();
  const response = await fetch(`${relay.url}/v1/devices/${device}/events`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  await response.arrayBuffer();
  if (response.status !== 404) throw new Error(`${device} is answered with ${response.status}`);
  return performance.now() - begin;
}

function report(what: string, medians: number[], base: number[] = []): void {
  const ratio = ratioOf(medians, base);
  const shown = ratio ? `, ${words(ratio)} times that of another account's device` : "";
  console.log(`${what}: ${words(spreadOf(medians))} ms${shown}`);
}

function words({ median, min, max }: Spread): string {
  return `${median.toFixed(3)} (${min.toFixed(3)} to ${max.toFixed(3)})`;
}
