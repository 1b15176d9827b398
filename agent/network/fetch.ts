/** `fetch` that connects as `connectFor` does: elsewhere through the environment's proxy, to this machine always directly. */
import { connectFor } from "./dial.ts";
import { proxyFor } from "./proxy.ts";
import { currentTrust, isUntrusted, trustSystem } from "./trust.ts";

type Dispatcher = NonNullable<RequestInit["dispatcher"]>;

let dispatcher: Dispatcher | undefined;

/** As the global one; rejects with MatrxError for a proxy that we can't use. */
export async function fetchElsewhere(input: string | URL, init: RequestInit = {}): Promise<Response> {
  const url = new URL(input);
  if (isNodesOwnEnough(url)) {
    try {
      return await fetch(url, init);
    } catch (error) {
      if (!(error instanceof Error) || !isUntrusted(error.cause)) throw error;
      trustSystem();
    }
  }
  dispatcher ??= await makeDispatcher();
  return fetch(url, { ...init, dispatcher });
}

/** Node's client takes no proxy and no certificates of ours, or takes proxies for this machine too if it is told to. */
function isNodesOwnEnough(url: URL): boolean {
  const { NODE_USE_ENV_PROXY, NODE_OPTIONS = "" } = process.env;
  if (NODE_USE_ENV_PROXY || NODE_OPTIONS.includes("--use-env-proxy")) return false;
  return url.protocol !== "https:" || (!proxyFor(url) && !currentTrust());
}

/** Loaded only when it is needed. Node's types are those of an older version of the library. */
async function makeDispatcher(): Promise<Dispatcher> {
  return (await import("#dispatcher")).makeDispatcher(connectFor) as unknown as Dispatcher;
}
