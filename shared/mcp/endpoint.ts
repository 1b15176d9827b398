/** MCP over HTTP for one caller: both eras of the protocol at one address. */
import {
  createMcpHandler,
  isInitializeRequest,
  isJsonContentType,
  isLegacyRequest,
  legacyStatelessFallback,
  type McpHttpHandler,
  type McpRequestContext,
  type Server,
} from "@modelcontextprotocol/server";
import { isDeeper } from "../json-input.ts";
import { LIMITS, TIMES } from "../limits.ts";
import { asEvents, begun, KEEP_ALIVE_MS } from "./late-answer.ts";
import { LegacySessions, SESSION_ID_HEADER } from "./legacy-sessions.ts";
import { withoutNullArguments } from "./null-arguments.ts";

/** Streams of news that one caller may have open. */
const MOST_STREAMS = 8;

/** Makes the server of one request, or of one session of the 2025 era, which has a name. */
export type MakeServer = (session: string) => Server;

export interface McpEndpointOptions {
  /** A client begins to listen for changed tools, for this many milliseconds at most; it is told so once this resolves. */
  readonly onListen?: (ms: number) => Promise<void>;
  /** A request brings several messages, which may throw. */
  readonly onBatch?: (messages: number) => void;
}

export class McpEndpoint {
  readonly #onListen: ((ms: number) => Promise<void>) | undefined;
  readonly #onBatch: ((messages: number) => void) | undefined;
  readonly #modern: McpHttpHandler;
  /** The servers of requests of the newest era, which end with them. */
  readonly #serving = new WeakMap<Request, Server>();
  readonly #sessions: LegacySessions;
  readonly #stateless: ReturnType<typeof legacyStatelessFallback>;

  constructor(makeServer: MakeServer, { onListen, onBatch }: McpEndpointOptions = {}) {
    this.#onListen = onListen;
    this.#onBatch = onBatch;
    const serve = ({ requestInfo }: McpRequestContext) => {
      const server = makeServer("");
      if (requestInfo) this.#serving.set(requestInfo, server);
      return server;
    };
    this.#modern = createMcpHandler(serve, {
      ...{ legacy: "reject", keepAliveMs: KEEP_ALIVE_MS, maxSubscriptions: MOST_STREAMS },
    });
    this.#sessions = new LegacySessions(makeServer);
    this.#stateless = legacyStatelessFallback(() => makeServer(""));
  }

  /** The body's length was checked before. What the client listens to ends when its credential `expires`, in milliseconds since 1970. */
  async fetch(given: Request, expires = Number.POSITIVE_INFINITY): Promise<Response> {
    const request = acceptingBoth(given);
    if (request.method !== "POST" || !isJsonContentType(request.headers.get("Content-Type")))
      return this.#serveLegacy(request, undefined, expires);
    const text = await request.text();
    // Before parsing, as everywhere: what is made of the arguments later goes down level by level.
    if (isDeeper(text, LIMITS.depth))
      return refused(-32_600, `A request may nest ${LIMITS.depth} levels deep`);
    const parsedBody = withoutNullArguments(parsed(text));
    if (parsedBody === undefined) return refused(-32_700, "The request is not JSON");
    if (Array.isArray(parsedBody)) this.#onBatch?.(parsedBody.length);
    if (await isLegacyRequest(request, parsedBody)) return this.#serveLegacy(request, parsedBody, expires);
    const answer = await this.#serveModern(request, parsedBody);
    const response = acceptsJson(given) ? answer : await asEvents(answer);
    const listens = request.headers.get("Mcp-Method") === "subscriptions/listen";
    return listens ? this.#listening(response, expires) : response;
  }

  /** Tells every client that listens. */
  toolsChanged(): void {
    this.#modern.notify.toolsChanged();
    this.#sessions.toolsChanged();
  }

  /** Ends everything at once. */
  async close(): Promise<void> {
    await this.#modern.close();
    await this.#sessions.close();
  }

  #serveModern(request: Request, parsedBody: unknown): Promise<Response> {
    return begun(this.#modern.fetch(request, { parsedBody }), () => {
      void this.#serving.get(request)?.close();
    });
  }

  async #serveLegacy(request: Request, parsedBody: unknown, expires: number): Promise<Response> {
    const hasSession = request.headers.has(SESSION_ID_HEADER);
    if (!hasSession && isInitializeRequest(parsedBody)) return this.#sessions.begin(request, parsedBody);
    // Without a session it is a program such as curl.
    if (!hasSession) return this.#stateless(request, { parsedBody });
    const response = await this.#sessions.fetch(request, parsedBody);
    return request.method === "GET" ? this.#listening(response, expires) : response;
  }

  async #listening(response: Response, expires: number): Promise<Response> {
    if (!response.ok || !response.body) return response;
    const ms = Math.min(TIMES.mcpListen, expires - Date.now());
    await this.#onListen?.(ms);
    return endedAfter(response.body, response, ms);
  }
}

/** Whoever says nothing takes anything. */
function acceptsJson({ headers }: Request): boolean {
  return /application\/(?:json|\*)|\*\/\*/i.test(headers.get("Accept") ?? "*/*");
}

/**
 * Clients must accept both JSON and events. In sessions answers are events, so who accepts those, or anything, is served;
 * the library refuses it.
 */
function acceptingBoth(request: Request): Request {
  const accepted = request.headers.get("Accept") ?? "*/*";
  if (request.method !== "POST" || !/text\/event-stream|text\/\*|\*\/\*/i.test(accepted)) return request;
  // Most clients do, and a copy of a request costs.
  if (accepted.includes("application/json") && accepted.includes("text/event-stream")) return request;
  const headers = new Headers(request.headers);
  headers.set("Accept", "application/json, text/event-stream");
  return new Request(request, { headers });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refused(code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status: 400 });
}

/** A stream of news ends after a while: its client asks for the next one, and shows its token again. */
function endedAfter(body: ReadableStream<Uint8Array>, response: Response, ms: number): Response {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), ms);
  body
    .pipeTo(writable, { signal: stop.signal, preventAbort: true })
    .catch(() => writable.close().catch(() => undefined))
    .finally(() => clearTimeout(timer));
  return new Response(readable, response);
}
