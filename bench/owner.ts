/** The owner of the relay under test: signs in, pairs devices, lifts their rates, makes a token. */
import * as z from "zod";
import { type Identity, makeIdentity } from "../agent/config/identity.ts";
import { type Credential, makeToken, request, signIn } from "../scripts/start/owner.ts";
import type { Relay } from "../scripts/start/relay.ts";
import { polledPairingSchema, startedPairingSchema } from "../shared/api.ts";
import type { Policy } from "../shared/policy.ts";

/** Far above what a run can send, so that no rate is measured. */
const POLICY: Policy = { rates: { messages_per_second: 100_000, calls_per_minute: 1_000_000 } };

export interface PairedDevice {
  id: string;
  identity: Identity;
}

export class Owner {
  readonly #relay: Relay;
  readonly #session: Credential;

  private constructor(relay: Relay, session: Credential) {
    this.#relay = relay;
    this.#session = session;
  }

  static async signIn(relay: Relay): Promise<Owner> {
    return new Owner(relay, await signIn(relay));
  }

  /** A token that may do everything on every device. */
  token(): Promise<string> {
    return makeToken(this.#relay, this.#session, { name: "bench", credential: "script" });
  }

  /** Pairs a device whose key is made here. */
  async pairDevice(name: string): Promise<PairedDevice> {
    const identity = makeIdentity();
    const wish = { name, hostname: "bench", os: "bench", os_version: "1", public_key: identity.publicKey };
    const begun = await request(this.#relay, undefined, "POST /v1/pairings", startedPairingSchema, wish);
    const { code, secret } = begun;
    await request(this.#relay, this.#session, `POST /v1/pairings/${code}/confirm`, z.unknown(), {});
    const poll = `POST /v1/pairings/${code}/poll` as const;
    const answer = await request(this.#relay, undefined, poll, polledPairingSchema, { secret });
    if (answer.status !== "paired") throw new Error(`the pairing is ${answer.status}`);
    await this.#liftRates(answer.device_id);
    return { id: answer.device_id, identity };
  }

  async #liftRates(device: string): Promise<void> {
    const { url } = this.#relay;
    const response = await fetch(`${url}/v1/devices/${device}/policy`, {
      method: "PUT",
      headers: { "content-type": "application/json", authorization: `Bearer ${this.#session.token}` },
      body: JSON.stringify(POLICY),
    });
    if (!response.ok) throw new Error(`setting rates: ${response.status} ${await response.text()}`);
  }
}
