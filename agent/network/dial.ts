/** Opens a TLS connection to a server elsewhere: through the proxy of the environment, trusting the system's store as well. */
import { once } from "node:events";
import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { type HttpProxy, proxyFor } from "./proxy.ts";
import { currentTrust, isUntrusted, trustSystem } from "./trust.ts";
import { openTunnel, ProxyError } from "./tunnel.ts";

/** In milliseconds; each connection is tried once more at most. */
const WITHIN = 10_000;

interface Place {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
}

/** For `createConnection`; the signal gives it up. What needs no TLS is near, and needs no proxy. */
export function connectFor({ protocol, hostname, port }: URL, given?: AbortSignal) {
  const isSecure = protocol === "https:" || protocol === "wss:";
  const place = { host: unbracketed(hostname), port: Number(port || (isSecure ? 443 : 80)) };
  return (_options: unknown, done: (error: Error | null, socket: Socket) => void): undefined => {
    const signal = AbortSignal.any([AbortSignal.timeout(WITHIN), ...(given ? [given] : [])]);
    (isSecure ? dial(place, signal) : plain(place, signal)).then(
      (socket) => done(null, socket),
      // Whoever is told of an error looks at no socket.
      (error: Error) => done(error, undefined as unknown as Socket),
    );
  };
}

/** Rejects with what the system, TLS or the proxy (ProxyError) said, or with MatrxError for a proxy that we can't use. */
async function dial(place: Place, signal: AbortSignal): Promise<TLSSocket> {
  const host = isIP(place.host) === 6 ? `[${place.host}]` : place.host;
  const proxy = proxyFor(new URL(`https://${host}:${place.port}`));
  return trusting(place, () => (proxy ? throughProxy(proxy, place, signal) : plain(place, signal)), signal);
}

async function throughProxy(proxy: HttpProxy, place: Place, signal: AbortSignal): Promise<Socket> {
  const { hostname, protocol, port } = proxy.url;
  const isSecure = protocol === "https:";
  const at = { host: unbracketed(hostname), port: Number(port || (isSecure ? 443 : 80)) };
  try {
    const open = () => plain(at, signal);
    return await openTunnel(proxy, place, isSecure ? await trusting(at, open, signal) : await open(), signal);
  } catch (error) {
    throw error instanceof ProxyError ? error : ProxyError.unreachable(proxy, error);
  }
}

/** TLS over a connection; over a new one with the system's store if the certificate is signed by nobody we know. */
async function trusting(place: Place, open: () => Promise<Socket>, signal: AbortSignal): Promise<TLSSocket> {
  const trust = currentTrust();
  try {
    return await secured(place, await open(), signal);
  } catch (error) {
    if (!isUntrusted(error) || trust) throw error;
    trustSystem();
    return secured(place, await open(), signal);
  }
}

async function secured({ host }: Place, socket: Socket, signal: AbortSignal): Promise<TLSSocket> {
  const secureContext = currentTrust();
  const secure = connectTls({
    ...{ socket, host, servername: isIP(host) ? "" : host, ALPNProtocols: ["http/1.1"] },
    ...(secureContext && { secureContext }),
  });
  return opened(secure, "secureConnect", signal);
}

function plain(place: Place, signal: AbortSignal): Promise<Socket> {
  return opened(connectPlain(place), "connect", signal);
}

async function opened<S extends Socket>(socket: S, event: string, signal: AbortSignal): Promise<S> {
  try {
    await once(socket, event, { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw signal.aborted ? new Error("No connection in time", { cause: error }) : error;
  }
}

function unbracketed(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}
