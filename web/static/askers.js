/** Names of who asks, and of where: read again when somebody unknown appears. */
import { api } from "./api.js";
import { visibleLine } from "./hidden-text.js";
import { kindOf } from "./tokens.js";

export class Askers {
  #devices = new Map();
  #tokens = new Map();
  #loading;

  /** Who made a call, and on which device. */
  async of({ device, grant, grant_name: name }) {
    if (!this.#devices.has(device) || !this.#tokens.has(grant)) await this.#load();
    const token = this.#tokens.get(grant);
    return {
      name: visibleLine(token?.name ?? name ?? grant),
      kind: token ? kindOf(token) : "No longer among your tokens",
      device: visibleLine(this.#devices.get(device)?.name ?? device),
      /** Only an AI grant has rules of its own that can be lifted. */
      hasRules: token?.credential === "ai",
    };
  }

  /** Without an answer, ids stand in for names. */
  async #load() {
    this.#loading ??= Promise.all([api("GET /v1/devices"), api("GET /v1/tokens")]);
    try {
      const [{ devices }, { tokens }] = await this.#loading;
      this.#devices = new Map(devices.map((device) => [device.id, device]));
      this.#tokens = new Map(tokens.map((token) => [token.id, token]));
    } catch {
      // The page says elsewhere that the relay can't be reached.
    } finally {
      this.#loading = undefined;
    }
  }
}
