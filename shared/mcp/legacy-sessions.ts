/**
 * Sessions of the 2025 era. A session's id says itself what its client can do, so that a session outlives the object that
 * holds it: many clients never begin a new one.
 */
import {
  type InitializeRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import { randomBase32 } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { CLIENT_GONE } from "./device.ts";
import { KEEP_ALIVE_MS } from "./late-answer.ts";

export const SESSION_ID_HEADER = "Mcp-Session-Id";

const MOST_SESSIONS = 16;
const ID_MAX = 1024;

/** What an id says: the client's version of the protocol, what it can be asked, and its name. */
const clientSchema = z.strictObject({
  v: z.string().max(32),
  e: z.strictObject({ form: z.strictObject({}).optional(), url: z.strictObject({}).optional() }).optional(),
  n: z.string().max(64),
});
type Client = z.infer<typeof clientSchema>;

interface OpenSession {
  readonly server: Server;
  readonly transport: SessionTransport;
}

const messageSchema = z.object({
  method: z.string(),
  id: z.union([z.string(), z.number()]).optional(),
  params: z
    .object({ requestId: z.union([z.string(), z.number()]).optional() })
    .optional()
    .catch(undefined),
});

/**
 * The library gives an answer to the stream that asked last with its id: an earlier one would wait without end. So would one
 * whose request was cancelled, since that gets no answer.
 */
class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  /** Ids of unanswered requests, each with those that came in the same body. */
  readonly #unanswered = new Map<string | number, Set<string | number>>();

  override async handleRequest(request: Request, options?: { parsedBody?: unknown }): Promise<Response> {
    const messages = [options?.parsedBody].flat().map((one) => messageSchema.safeParse(one).data);
    const ids = new Set(messages.map((message) => message?.id).filter((id) => id !== undefined));
    for (const id of ids) if (this.#unanswered.has(id)) return idInUse();
    for (const id of ids) this.#unanswered.set(id, ids);
    const response = await super.handleRequest(request, options);
    if (!response.ok) for (const id of ids) this.#unanswered.delete(id);
    for (const message of messages)
      if (message?.method === "notifications/cancelled") this.#settle(message.params?.requestId);
    return ids.size > 0 ? watched(response, () => this.#gone(ids)) : response;
  }

  /** Whoever waited for these answers is gone. To this era that is no wish to stop what runs. */
  #gone(ids: ReadonlySet<string | number>): void {
    for (const requestId of ids) {
      if (!this.#unanswered.delete(requestId)) continue;
      const params = { requestId, reason: CLIENT_GONE };
      this.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    }
  }

  override async send(...[message, options]: Parameters<WebStandardStreamableHTTPServerTransport["send"]>) {
    await super.send(message, options);
    if (!("method" in message)) this.#settle(message.id);
  }

  /** The last one settled ends the stream. */
  #settle(id: string | number | undefined): void {
    const together = id === undefined ? undefined : this.#unanswered.get(id);
    if (id === undefined || !together) return;
    this.#unanswered.delete(id);
    together.delete(id);
    if (together.size === 0) this.closeSSEStream(id);
  }
}

export class LegacySessions {
  readonly #makeServer: (session: string) => Server;
  readonly #open = new Map<string, OpenSession>();
  /** Sessions that their clients ended. */
  readonly #ended = new Set<string>();

  constructor(makeServer: (session: string) => Server) {
    this.#makeServer = makeServer;
  }

  /** The request that begins a session. */
  async begin(request: Request, greeting: InitializeRequest): Promise<Response> {
    const { transport } = await this.#make(idOf(clientIn(greeting)));
    return await transport.handleRequest(request, { parsedBody: greeting });
  }

  async fetch(request: Request, parsedBody: unknown): Promise<Response> {
    const id = request.headers.get(SESSION_ID_HEADER) ?? "";
    const session = this.#open.get(id) ?? (await this.#restore(id, request));
    if (!session) return noSuchSession();
    // The one used last comes last.
    this.#open.delete(id);
    this.#open.set(id, session);
    const response = await session.transport.handleRequest(request, { parsedBody });
    if (request.method === "DELETE" && response.ok) this.#forget(id);
    return response;
  }

  toolsChanged(): void {
    for (const { server } of this.#open.values()) void server.sendToolListChanged().catch(() => undefined);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ transport }) => transport.close()));
    this.#open.clear();
  }

  async #make(id: string): Promise<OpenSession> {
    const server = this.#makeServer(id);
    const transport = new SessionTransport({
      sessionIdGenerator: () => id,
      maxRequestBodySize: LIMITS.restBodyBytes,
      keepAliveMs: KEEP_ALIVE_MS,
    });
    await server.connect(transport);
    const session = { server, transport };
    this.#open.set(id, session);
    this.#evict();
    return session;
  }

  /** A session that this object has forgotten: greets again as its client did. */
  async #restore(id: string, request: Request): Promise<OpenSession | undefined> {
    const client = this.#ended.has(id) ? undefined : clientOf(id);
    if (!client) return undefined;
    const session = await this.#make(id);
    const { v: protocolVersion, e: elicitation, n: name } = client;
    const params = {
      protocolVersion,
      capabilities: elicitation ? { elicitation } : {},
      clientInfo: { name, version: "" },
    };
    const say = async (message: object, headers: Record<string, string> = {}) => {
      const greeting = new Request(request.url, {
        method: "POST",
        headers: {
          ...headers,
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
        },
        body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      });
      await (await session.transport.handleRequest(greeting)).body?.cancel();
    };
    await say({ id: "restored", method: "initialize", params });
    await say({ method: "notifications/initialized" }, { [SESSION_ID_HEADER]: id });
    return session;
  }

  #forget(id: string): void {
    this.#open.delete(id);
    this.#ended.add(id);
    if (this.#ended.size > MOST_SESSIONS * 4) this.#ended.delete(this.#ended.values().next().value ?? "");
  }

  /** Those not used for longest make room; who comes back is restored. */
  #evict(): void {
    for (const [id, { transport }] of this.#open) {
      if (this.#open.size <= MOST_SESSIONS) return;
      this.#open.delete(id);
      void transport.close();
    }
  }
}

function clientIn({ params }: InitializeRequest): Client {
  const asked = params.capabilities.elicitation;
  return {
    v: params.protocolVersion.slice(0, 32),
    ...(asked && { e: { ...(asked.form && { form: {} }), ...(asked.url && { url: {} }) } }),
    n: params.clientInfo.name.slice(0, 64),
  };
}

/** Random first: an id names one session, whoever its client is. */
function idOf(client: Client): string {
  const bytes = new TextEncoder().encode(JSON.stringify(client));
  return `${randomBase32(26)}.${btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")}`;
}

function clientOf(id: string): Client | undefined {
  const [random, text] = id.split(".");
  if (id.length > ID_MAX || !text || !/^[0-9a-z]{26}$/.test(random ?? "")) return undefined;
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
    return clientSchema.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data;
  } catch {
    return undefined;
  }
}

/** The same response; `left` is called if its reader leaves before the end. */
function watched(response: Response, left: () => void): Response {
  const reader = response.body?.getReader();
  if (!reader) return response;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel(reason) {
      left();
      await reader.cancel(reason);
    },
  });
  return new Response(body, response);
}

function noSuchSession(): Response {
  const error = { code: -32001, message: "Session not found: begin a new one" };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 404 });
}

function idInUse(): Response {
  const error = { code: -32_600, message: "A request with this id is still being answered" };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 400 });
}
