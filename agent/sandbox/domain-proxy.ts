/**
 * An HTTP proxy that reaches certain domains only. Commands in the sandbox have no other way to a network. It listens on a
 * socket that only the sandbox of such a command contains.
 */
import type { LookupAddress } from "node:dns";
import { lookup as lookUp } from "node:dns/promises";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, isIP, type LookupFunction, type Server } from "node:net";
import type { Duplex } from "node:stream";
import { domainToASCII } from "node:url";
import { isPublicAddress } from "./public-address.ts";

/** A host and, if it is given, the only port; `*.` stands for any number of names before it. */
interface Domain {
  readonly name: string;
  readonly isSuffix: boolean;
  readonly ports: readonly number[];
}

/** As clients send it: other letters come as xn--… (RFC 5891). */
const HOST_NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
const WEB_PORTS = [80, 443];
/** Headers between a client and its proxy (RFC 9110, 7.6.1). */
const OF_PROXY = ["proxy-authorization", "proxy-connection", "proxy-authenticate"];

export interface DomainProxyOptions {
  /** Absent: the system's resolver. */
  readonly resolve?: (host: string) => Promise<LookupAddress[]>;
  /** Absent: public addresses only. */
  readonly isReachable?: (address: string) => boolean;
}

/** Listens at a path. Close it. */
export async function startDomainProxy(
  path: string,
  domains: readonly string[],
  options: DomainProxyOptions = {},
): Promise<Server> {
  const allowed = domains.map(domainOf);
  const isAllowed = (host: string, port: number) => allowed.some((domain) => includes(domain, host, port));
  const lookup = lookupOf(options);
  const server = createServer((incoming, response) => {
    const target = URL.canParse(incoming.url ?? "") ? new URL(incoming.url ?? "") : undefined;
    const port = Number(target?.port || 80);
    if (target?.protocol !== "http:" || !isAllowed(target.hostname, port))
      return refuse(response, target?.host);
    forward(incoming, response, { target, port, lookup });
  });
  server.on("connect", (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    const { hostname, port } = targetOf(incoming.url ?? "");
    if (!isAllowed(hostname, port)) return void client.end(refusal(hostname));
    const upstream = connect({ host: hostname, port, lookup, autoSelectFamily: true });
    upstream.once("connect", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.write(head);
      client.pipe(upstream).pipe(client);
    });
    upstream.on("error", () => client.destroy());
    client.on("error", () => upstream.destroy());
    client.on("close", () => upstream.destroy());
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  server.listen(path);
  await once(server, "listening");
  server.unref();
  return server;
}

function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  { target, port, lookup }: { target: URL; port: number; lookup: LookupFunction },
): void {
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).filter(([name]) => !OF_PROXY.includes(name)),
  );
  const options = { host: target.hostname, port, path: `${target.pathname}${target.search}`, lookup };
  const upstream = request({
    ...options,
    method: incoming.method,
    headers: { ...headers, host: target.host },
  });
  upstream.on("response", (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  upstream.on("error", () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
  response.on("close", () => upstream.destroy());
  incoming.pipe(upstream);
}

function refuse(response: ServerResponse, host = "this address"): void {
  response.writeHead(403, { "content-type": "text/plain" }).end(sentence(host));
}

function refusal(host: string): string {
  return `HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${sentence(host)}`;
}

function sentence(host: string): string {
  return `Matrx: this token's commands may not reach ${host}\n`;
}

function targetOf(authority: string): { hostname: string; port: number } {
  const [, hostname = "", port = ""] = /^(.+):(\d+)$/.exec(authority) ?? [];
  return { hostname: hostname.toLowerCase(), port: Number(port) };
}

export function domainOf(text: string): Domain {
  const { hostname, port } = targetOf(/:\d+$/.test(text) ? text : `${text}:0`);
  const isSuffix = hostname.startsWith("*.");
  const name = domainToASCII(isSuffix ? hostname.slice(2) : hostname);
  return { name: isSuffix ? `.${name}` : name, isSuffix, ports: port === 0 ? WEB_PORTS : [port] };
}

function includes({ name, isSuffix, ports }: Domain, host: string, port: number): boolean {
  const plain = host.toLowerCase().replace(/\.$/, "");
  // What the system would read otherwise than it is read here, such as a NUL, is no name; and an address is none either:
  // nothing would look it up, so nothing would check it.
  if (!HOST_NAME.test(plain) || isIP(plain) !== 0 || !ports.includes(port)) return false;
  return isSuffix ? plain.endsWith(name) && plain.length > name.length : plain === name;
}

/** Looks a name up once, and connects to just those addresses: a second answer could be another. */
function lookupOf({
  resolve = (host) => lookUp(host, { all: true }),
  isReachable = isPublicAddress,
}: DomainProxyOptions): LookupFunction {
  return (host, options, done) => {
    resolve(host)
      .then((all) => all.filter(({ address }) => isReachable(address)))
      .then((found) => {
        const [first] = found;
        if (!first) throw new Error(`${host} has no address that commands may reach`);
        if (options.all) done(null, found);
        else done(null, first.address, first.family);
      })
      .catch((error: unknown) => done(error as NodeJS.ErrnoException, "", 4));
  };
}
