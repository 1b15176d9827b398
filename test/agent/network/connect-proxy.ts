/** A real HTTP proxy for CONNECT, and a server that ends TLS in front of another. Both listen on this machine alone. */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";

interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
}

export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

export interface ConnectProxy extends Listening {
  /** What it was asked to connect to, in order, and with which user and password. */
  readonly asked: { target: string | undefined; login: string | undefined }[];
}

export interface ConnectProxyOptions {
  /** Where each target leads: this port, on this machine. */
  readonly leadsTo: number;
  /** `user:password`, if it asks for them. */
  readonly login?: string;
  /** If it is reached by TLS itself. */
  readonly certificate?: Certificate;
}

export async function startConnectProxy(options: ConnectProxyOptions): Promise<ConnectProxy> {
  const { leadsTo, login, certificate } = options;
  const asked: ConnectProxy["asked"] = [];
  const server = certificate ? createSecureServer(certificate) : createServer();
  server.on("connect", (request: IncomingMessage, near: Socket, head: Buffer) => {
    near.on("error", () => near.destroy());
    const [, given] = /^Basic (.*)$/.exec(request.headers["proxy-authorization"] ?? "") ?? [];
    const decoded = given && Buffer.from(given, "base64").toString();
    asked.push({ target: request.url, login: decoded });
    if (decoded !== login) {
      near.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
      return;
    }
    near.write("HTTP/1.1 200 Connection established\r\n\r\n");
    join(near, leadsTo);
    if (head.length > 0) near.unshift(head);
  });
  return { asked, ...(await listening(server)) };
}

/** Ends TLS for the server at this port. */
export async function startTlsFront(certificate: Certificate, port: number): Promise<Listening> {
  return listening(createTlsServer(certificate, (near) => join(near, port)));
}

function join(near: Socket, port: number): void {
  const far = connect(port, "127.0.0.1");
  near.pipe(far).pipe(near);
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
}

async function listening(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
