/** `matrx serve`: this machine's tools at http://localhost, as the guide says. Loopback only. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import { nothingHereError } from "@matrx/shared/caller/no-route.ts";
import { problemOfShape } from "@matrx/shared/caller/problem.ts";
import { chooseSubprotocol, requestedSession } from "@matrx/shared/caller/upgrade.ts";
import { agentError, type ErrorShape, type MatrxError, problemOf } from "@matrx/shared/errors.ts";
import type { SessionId } from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { SESSION_HEADER } from "@matrx/shared/tokens.ts";
import type { Logger } from "pino";
import { WebSocketServer } from "ws";
import type { EventHub } from "../events/hub.ts";
import { portHolder } from "../platform/port-holder.ts";
import { type AccessRules, checkHost, checkOrigin, checkToken, isBearer, requireToken } from "./access.ts";
import { localApp, shapeHere } from "./app.ts";
import type { LocalCalls } from "./local-calls.ts";
import { type Listening, listenAt, listenAtLocalhost } from "./loopback.ts";
import { LocalHost } from "./port.ts";
import { noRouteError } from "./routes.ts";
import { type LocalCallers, serveSocket } from "./socket.ts";

export interface LocalServerOptions {
  /** One loopback address, or `localhost` for all of them. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly token: string | undefined;
  readonly allowedOrigins: readonly string[];
  readonly calls: LocalCalls;
  readonly hub: EventHub;
  readonly log: Logger;
}

export interface LocalServer {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

/** How often to check for requests that took too long to arrive, in milliseconds. */
const OVERDUE_EVERY = 1000;

/** Starts listening. Throws MatrxError if the port is taken, even on just one address of `localhost`. */
export async function startLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  const { host, log } = options;
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: LIMITS.platformFrameBytes,
    handleProtocols: chosenOf,
  });
  /** The session of an upgrade, until its connection is open. */
  const sessions = new WeakMap<IncomingMessage, SessionId>();
  sockets.on("headers", (headers, request) => headers.push(`${SESSION_HEADER}: ${sessions.get(request)}`));
  const callers: LocalCallers = {
    ...options,
    requireToken: (given) => requireToken(given, options),
    errorShape: (error) => ({ ...shapeHere(error, log), hop: "agent" }),
    queued: () => queuedOf(sockets),
  };

  const shared = new LocalHost(options.calls, options.hub);
  const make = () => {
    const server = createServer({
      requestTimeout: TIMES.restBodyWithin,
      connectionsCheckingInterval: OVERDUE_EVERY,
    });
    const rules = (): AccessRules => ({ ...options, port: (server.address() as AddressInfo).port });
    const { fetch } = localApp({ host: shared, rules, log });
    // The request's URL is invalid, so no route matches.
    const errorHandler = () => problemOfShape(shapeHere(nothingHereError(), log));
    server.on("request", getRequestListener(fetch, { overrideGlobalObjects: false, errorHandler }));
    server.on("upgrade", (request, socket, head) => {
      try {
        checkHost(request, rules());
        checkOrigin(request, rules());
        checkToken(request, options);
        const path = (request.url ?? "/").replace(/\?.*$/, "");
        if (path !== "/ws") throw noRouteError(path);
        const session = requestedSession(new URL(request.url ?? "/", "http://localhost"), "agent");
        sessions.set(request, session);
        sockets.handleUpgrade(request, socket, head, (webSocket) => serveSocket(webSocket, session, callers));
      } catch (error) {
        refuseUpgrade(socket, shapeHere(error, log));
      }
    });
    return server;
  };

  const { port, servers } = await listen(make, options);
  const close = async () => {
    await Promise.all(servers.map((server) => end(server, sockets)));
  };
  return { port, url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`, close };
}

/** Browsers require one of the subprotocols that they offered; the token is echoed only if there is no other. */
function chosenOf(offered: Set<string>): string | false {
  return chooseSubprotocol([...offered]) ?? [...offered].find(isBearer) ?? false;
}

/** Bytes queued on all connections, which all belong to the owner. */
function queuedOf({ clients }: WebSocketServer): number {
  let bytes = 0;
  for (const { bufferedAmount } of clients) bytes += bufferedAmount;
  return bytes;
}

function refuseUpgrade(socket: Duplex, error: ErrorShape): void {
  const problem = problemOf(error);
  const body = JSON.stringify(problem);
  const lines = [
    `HTTP/1.1 ${problem.status} Refused`,
    "Content-Type: application/problem+json",
    "X-Content-Type-Options: nosniff",
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(problem.status === 401 ? ["WWW-Authenticate: Bearer"] : []),
    "Connection: close",
  ];
  socket.on("error", () => socket.destroy());
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

async function listen(make: () => Server, { host, port }: LocalServerOptions): Promise<Listening<Server>> {
  try {
    if (host === "localhost") return await listenAtLocalhost(make, port);
    const server = make();
    return { port: await listenAt(server, host, port), servers: [server] };
  } catch (cause) {
    throw await cannotListen(host, port, cause as NodeJS.ErrnoException);
  }
}

async function end(server: Server, sockets: WebSocketServer): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of sockets.clients) {
    socket.close(1001, "The server stops");
    setTimeout(() => socket.terminate(), 500).unref();
  }
  server.closeIdleConnections();
  setTimeout(() => server.closeAllConnections(), 500).unref();
  await closed;
}

async function cannotListen(host: string, port: number, cause: NodeJS.ErrnoException): Promise<MatrxError> {
  const inUse = cause.code === "EADDRINUSE";
  return agentError(
    "UNAVAILABLE",
    inUse
      ? `Port ${port} is in use by ${await portHolder(port)}`
      : `Cannot listen on ${host}:${port} (${cause.code})`,
    { hint: "Stop the other program, or choose another port with --port", cause },
  );
}
