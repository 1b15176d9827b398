/** Which sandboxed commands share a network: those of one session, as long as they may reach the same domains. */
import type { Network } from "./backend.ts";

/** Beyond this many, those in which nothing runs are given up, the longest unused first. */
const MOST_KEPT = 64;

export class Networks {
  readonly #networks = new Map<string, Promise<Network | undefined>>();
  readonly #most: number;

  constructor(most = MOST_KEPT) {
    this.#most = most;
  }

  /** The network of this name, made if there is none. Undefined where none can be shared. Rejects as `make` does. */
  async of(name: string, make: () => Promise<Network | undefined>): Promise<Network | undefined> {
    const network = this.#networks.get(name) ?? make();
    this.#networks.delete(name);
    this.#networks.set(name, network);
    try {
      await network;
    } catch (error) {
      this.#networks.delete(name);
      throw error;
    }
    await this.#giveUp();
    return network;
  }

  async close(): Promise<void> {
    const all = [...this.#networks.values()];
    this.#networks.clear();
    await Promise.allSettled(all.map(async (network) => (await network)?.close()));
  }

  async #giveUp(): Promise<void> {
    for (const [name, network] of [...this.#networks].slice(0, -1)) {
      if (this.#networks.size <= this.#most) return;
      const idle = await network.catch(() => undefined);
      if (idle?.isUsed() || this.#networks.get(name) !== network) continue;
      this.#networks.delete(name);
      await idle?.close();
    }
  }
}
