/** The direct connection, for as long as somebody wants it. */
import type { Connection } from "@matrx/client/socket/connection.ts";
import { ApiError } from "../relay/api-error.ts";
import type { DirectLink } from "./link.ts";
import { beginDirect, type Direct, endDirect, useDirect } from "./local.ts";
import type { Target } from "./probe.ts";

let target: Target | undefined;
let link: DirectLink | undefined;

useDirect.subscribe(({ state }) => {
  if (state !== "off") return;
  target = undefined;
  link?.close();
  link = undefined;
});

/** Connects, in the place of an earlier connection, until `endDirect`. */
export async function connect(next: Target): Promise<void> {
  endDirect();
  target = next;
  beginDirect(next.address);
  const { DirectLink } = await import("./link.ts");
  if (target === next) link = new DirectLink(next);
}

/** The token that is in use; empty: none. */
export function tokenInUse(): string {
  return target?.token ?? "";
}

/** The connection, once it is open; undefined: nobody wants it any more, it needs the person, or `signal` is aborted. */
export async function untilConnected(signal: AbortSignal): Promise<Connection | undefined> {
  const settled = Promise.withResolvers<void>();
  const end = () => settled.resolve();
  const look = ({ state }: Direct) => {
    if (state === "online" || state === "off" || state === "stopped") end();
  };
  const stop = useDirect.subscribe(look);
  look(useDirect.getState());
  signal.addEventListener("abort", end, { once: true });
  if (!signal.aborted) await settled.promise;
  stop();
  return signal.aborted ? undefined : link?.connection;
}

/** Reads a route of the server. Throws ApiError. */
export async function readDirectly<T>(path: string): Promise<T> {
  if (!target) throw notConnectedError();
  const { address, token } = target;
  const response = await fetch(`${address}${path}`, {
    credentials: "omit",
    cache: "no-store",
    redirect: "error",
    headers: token ? { Authorization: `Bearer ${token}` } : {},
  }).catch(() => {
    throw notConnectedError();
  });
  const answer = await response.json().catch(() => {
    throw notConnectedError();
  });
  if (!response.ok) throw new ApiError(response.status, answer);
  return answer;
}

export function notConnectedError(): ApiError {
  return new ApiError(0, {
    detail: "There is no direct connection to this computer now.",
    hint: "Look under Settings, Connection.",
  });
}
