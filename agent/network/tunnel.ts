/** A connection to a server through an HTTP proxy (RFC 9110, 9.3.6: CONNECT). */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { isIP, type Socket } from "node:net";
import { type HttpProxy, placeOf } from "./proxy.ts";

/** The proxy could not be used. Nothing reached the server behind it. */
export class ProxyError extends Error {
  readonly code = "EPROXY";

  static unreachable(proxy: HttpProxy, cause: unknown): ProxyError {
    const why = cause instanceof Error ? cause.message : "unknown";
    return new ProxyError(`The proxy at ${placeOf(proxy)} can't be reached: ${why}`, { cause });
  }

  static refused(proxy: HttpProxy, { statusCode, statusMessage = "" }: IncomingMessage): ProxyError {
    const asks = proxy.url.username
      ? "it doesn't accept the user and the password in its URL"
      : "it asks for a user and a password, which can stand in its URL";
    const why = statusCode === 407 ? asks : statusMessage;
    return new ProxyError(`The proxy at ${placeOf(proxy)} answered ${statusCode}: ${why}`);
  }
}

/** Takes over the connection to the proxy. Rejects with ProxyError, or with what ended that connection. */
export async function openTunnel(
  proxy: HttpProxy,
  { host, port }: { host: string; port: number },
  socket: Socket,
  signal: AbortSignal,
): Promise<Socket> {
  const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const asked = request({
    method: "CONNECT",
    path: target,
    headers: { Host: target, ...loginOf(proxy.url) },
    createConnection: () => socket,
  });
  asked.end();
  try {
    const [answer, tunnel, rest] = (await once(asked, "connect", { signal })) as [
      IncomingMessage,
      Socket,
      Buffer,
    ];
    if (answer.statusCode !== 200) throw ProxyError.refused(proxy, answer);
    if (rest.length > 0) tunnel.unshift(rest);
    return tunnel;
  } catch (error) {
    asked.destroy();
    socket.destroy();
    throw signal.aborted ? new Error("no answer in time", { cause: error }) : error;
  }
}

function loginOf({ username, password }: URL): { "Proxy-Authorization"?: string } {
  if (username === "" && password === "") return {};
  const pair = `${unescaped(username)}:${unescaped(password)}`;
  return { "Proxy-Authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
