/** One proxy for each list of domains in use. They end with the agent: then such commands have no network left. */
import { mkdir } from "node:fs/promises";
import type { Server } from "node:net";
import path from "node:path";
import { type DomainProxyOptions, startDomainProxy } from "./domain-proxy.ts";

export class DomainProxies {
  readonly #directory: string;
  readonly #options: DomainProxyOptions;
  readonly #proxies = new Map<string, Promise<{ readonly socket: string; readonly server: Server }>>();

  /** The folder of their sockets: closed to all tools, and emptied when the agent starts. */
  constructor(directory: string, options: DomainProxyOptions = {}) {
    this.#directory = directory;
    this.#options = options;
  }

  /** The socket of the proxy for these domains. */
  async socketFor(domains: readonly string[]): Promise<string> {
    const key = JSON.stringify([...new Set(domains)].sort());
    const proxy = this.#proxies.get(key) ?? this.#start(String(this.#proxies.size), domains);
    this.#proxies.set(key, proxy);
    return (await proxy).socket;
  }

  async close(): Promise<void> {
    for (const proxy of this.#proxies.values()) (await proxy.catch(() => undefined))?.server.close();
    this.#proxies.clear();
  }

  async #start(name: string, domains: readonly string[]) {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const socket = path.join(this.#directory, name);
    return { socket, server: await startDomainProxy(socket, domains, this.#options) };
  }
}
