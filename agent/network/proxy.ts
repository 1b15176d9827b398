/** The proxy that the environment names for a server elsewhere: HTTPS_PROXY, ALL_PROXY and NO_PROXY, as curl takes them. */
import { BlockList, isIP } from "node:net";
import { callerError, type MatrxError } from "@matrx/shared/errors.ts";
import { isLoopback } from "@matrx/shared/public-url.ts";

export interface HttpProxy {
  readonly url: URL;
  /** The variable that names it. */
  readonly variable: string;
}

type Environment = Readonly<NodeJS.ProcessEnv>;

const VARIABLES = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
const EXEMPTING = ["no_proxy", "NO_PROXY"];

/** Undefined: connect directly, as always on this machine itself. Throws MatrxError if it is none that we can use. */
export function proxyFor(url: URL, env: Environment = process.env): HttpProxy | undefined {
  const variable = firstSet(VARIABLES, env);
  if (variable === undefined || isLoopback(url.hostname) || isExempt(url, env)) return undefined;
  return { variable, url: parsed(variable, env[variable]?.trim() ?? "") };
}

/** Where a proxy is, without its user and password. */
export function placeOf({ url, variable }: HttpProxy): string {
  return `${url.protocol}//${url.host} (${variable})`;
}

function firstSet(names: readonly string[], env: Environment): string | undefined {
  return names.find((name) => env[name]?.trim());
}

/** What it holds is never told: it may be a password. */
function parsed(variable: string, text: string): URL {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (!url?.hostname) throw unusable(variable, `${variable} is not the URL of a proxy`);
  if (url.protocol === "http:" || url.protocol === "https:") return url;
  throw unusable(variable, `${variable} names a proxy of the kind ${url.protocol.slice(0, -1)}`);
}

function unusable(variable: string, message: string): MatrxError {
  const exempt = variable === variable.toLowerCase() ? "no_proxy" : "NO_PROXY";
  return callerError("UNAVAILABLE", `${message}, so the relay can't be reached through it`, {
    hint: `Set HTTPS_PROXY to an HTTP proxy, such as http://proxy.example:3128, or ${exempt} to the relay's host to go without`,
  });
}

function isExempt({ hostname, port }: URL, env: Environment): boolean {
  const list = env[firstSet(EXEMPTING, env) ?? ""] ?? "";
  const host = bare(hostname);
  return list.split(/[\s,]+/).some((entry) => {
    const [, name = "", wanted] = /^(\[.*\]|[^:]*|[^[\]]*:[^[\]]*:[^[\]]*)(?::(\d+))?$/.exec(entry) ?? [];
    return (wanted === undefined || wanted === (port || "443")) && covers(name, host);
  });
}

/** Whether an entry of NO_PROXY is this host, a domain above it, or a range of addresses around it. */
function covers(entry: string, host: string): boolean {
  const name = bare(entry.replace(/^\*?\./, ""));
  if (name === "") return false;
  if (name === "*" || host === name || (!isIP(host) && host.endsWith(`.${name}`))) return true;
  const [address = "", bits] = name.split("/");
  const family = isIP(address);
  if (bits === undefined || family === 0 || isIP(host) !== family) return false;
  return inRange(host, address, Number(bits), family === 6 ? "ipv6" : "ipv4");
}

function inRange(host: string, address: string, bits: number, family: "ipv4" | "ipv6"): boolean {
  if (!Number.isInteger(bits) || bits < 0 || bits > (family === "ipv6" ? 128 : 32)) return false;
  const range = new BlockList();
  range.addSubnet(address, bits, family);
  return range.check(host, family);
}

function bare(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]/, "$1")
    .replace(/\.$/, "");
}
