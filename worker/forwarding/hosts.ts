/**
 * Hosts for the ports of devices, `<port>--<device>.<forward domain>`: an origin for each, so that what a device serves
 * never runs on the relay's own. The embedded relay uses `localhost`, whose subdomains browsers look for on this machine.
 */

import { relayError } from "@matrx/shared/errors.ts";
import { isDeviceId } from "@matrx/shared/ids.ts";
import { isLoopback } from "@matrx/shared/public-url.ts";
import type { Visited } from "../account/port-links.ts";
import { linkOrigin, publicAddress } from "../auth/address.ts";
import type { ForwardEnv } from "../env.ts";

/** A host that is forwarded; without `visited`, its name names no port of a device. */
export interface ForwardHost {
  readonly origin: string;
  readonly visited: Visited | undefined;
}

/** Undefined for a request to the relay itself. */
export function forwardHostOf(env: ForwardEnv, request: Request): ForwardHost | undefined {
  const host = (request.headers.get("Host") ?? new URL(request.url).host).toLowerCase();
  const domain = domainsOf(env).find((one) => host.endsWith(`.${one}`));
  if (domain === undefined)
    return isOtherwiseBelow(env, host) ? { origin: `https://${host}`, visited: undefined } : undefined;
  const visited = visitedBy(host.slice(0, -domain.length - 1));
  return { origin: `${schemeOf(domain)}//${host}`, visited };
}

/** Whether it is such a host in another spelling, with a port or a final dot: nothing of the relay's own is there either. */
function isOtherwiseBelow(env: ForwardEnv, host: string): boolean {
  const domain = configuredDomain(env);
  if (domain === undefined || domain.includes(":") || host === publicAddress(env)?.host) return false;
  return host.replace(/\.?(?::\d*)?$/, "").endsWith(`.${domain}`);
}

/** The origin of a port. Throws MatrxError `UNAVAILABLE` if this relay has no domain for it. */
export function forwardOrigin(env: ForwardEnv, request: Request, { device, port }: Visited): string {
  const configured = configuredDomain(env);
  const own = new URL(linkOrigin(env, request)).hostname;
  if (env.FORWARD_DOMAIN && !(configured && isApart(configured, own))) throw unusableDomain();
  const domain = configured ?? localDomain(env, request);
  if (!domain) throw noDomain();
  return `${schemeOf(domain)}//${port}--${device}.${domain}`;
}

function domainsOf(env: ForwardEnv): string[] {
  const address = publicAddress(env);
  const local = [...(env.HOSTS?.split(",") ?? []), ...(address ? [address.host] : [])].filter((host) =>
    /^localhost(?::\d+)?$/.test(host),
  );
  const configured = configuredDomain(env);
  return configured === undefined ? local : [configured, ...local];
}

/** Undefined also for one that is unusable. */
function configuredDomain(env: ForwardEnv): string | undefined {
  const domain = env.FORWARD_DOMAIN?.toLowerCase();
  if (!domain || !/^(?:[a-z0-9-]+\.)*[a-z0-9-]+(?::\d{1,5})?$/.test(domain)) return undefined;
  const address = publicAddress(env);
  return address && !isApart(domain, new URL(address.origin).hostname) ? undefined : domain;
}

/**
 * The relay's own host must never be a host of a port; and browsers let the pages below a host replace and remove its
 * passkeys. Neither knows ports.
 */
function isApart(domain: string, own: string): boolean {
  const name = domain.replace(/:\d+$/, "");
  return name !== own && !own.endsWith(`.${name}`) && !name.endsWith(`.${own}`);
}

/** Of an embedded relay that is used on its own machine. */
function localDomain(env: ForwardEnv, request: Request): string | undefined {
  const { hostname, port } = new URL(linkOrigin(env, request));
  return env.EMBEDDED && isLoopback(hostname) ? `localhost${port && `:${port}`}` : undefined;
}

function schemeOf(domain: string): "http:" | "https:" {
  return isLoopback(new URL(`http://${domain}`).hostname) ? "http:" : "https:";
}

function visitedBy(label: string): Visited | undefined {
  const [, digits = "", device = ""] = /^([1-9]\d{0,4})--(.+)$/.exec(label) ?? [];
  const port = Number(digits);
  return port >= 1 && port <= 65_535 && isDeviceId(device) ? { device, port } : undefined;
}

function unusableDomain() {
  return relayError("UNAVAILABLE", "FORWARD_DOMAIN is not a domain for the web servers of devices", {
    hint: "Set it to a host name without a scheme, such as forward.example, that is neither above nor below this relay's own",
  });
}

function noDomain() {
  return relayError("UNAVAILABLE", "This relay has no domain for the web servers of devices", {
    hint: "Set FORWARD_DOMAIN to one whose subdomains all lead to this relay (docs/guides/ports.md), or use `matrx forward`",
  });
}
