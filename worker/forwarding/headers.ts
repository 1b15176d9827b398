/** Headers of forwarded requests and responses: the program sees itself as `localhost`, and may only speak for its own host. */
import { endToEnd, type HeaderList } from "@matrx/shared/forwarding/head.ts";
import { ownCookie, withoutOurs } from "./cookies.ts";

/** The origin of a visited port, and the same as its program knows it. */
export interface Origins {
  readonly visitor: string;
  readonly program: string;
}

export function originsOf(visitor: string, port: number): Origins {
  return { visitor, program: `http://localhost:${port}` };
}

/** What a proxy in front of the relay adds, and what the relay says itself. */
const NOT_FORWARDED = /^(?:host|expect|forwarded|x-forwarded-.*|x-real-ip|cf-.*|cdn-loop|true-client-ip)$/;

/** The headers of a browser's request, for the program. */
export function headersToProgram(headers: Headers, { visitor, program }: Origins): HeaderList {
  const { host, protocol } = new URL(visitor);
  const kept = endToEnd(headers).flatMap(([name, value]): [string, string][] => {
    if (NOT_FORWARDED.test(name)) return [];
    if (name === "cookie") {
      const cookies = withoutOurs(value);
      return cookies === undefined ? [] : [[name, cookies]];
    }
    if (name === "origin" && value === visitor) return [[name, program]];
    if (name === "referer") return [[name, moved(value, visitor, program)]];
    return [[name, value]];
  });
  return [...kept, ["x-forwarded-host", host], ["x-forwarded-proto", protocol.slice(0, -1)]];
}

/** Reaches beyond the host: other ports and protocols, all subdomains; or makes a service worker one of the whole host. */
const NOT_ANSWERED = /^(?:strict-transport-security|alt-svc|public-key-pins.*|service-worker-allowed)$/;

/** The headers of a program's response, for the browser. */
export function headersToVisitor(headers: HeaderList, origins: Origins): Headers {
  const kept = new Headers();
  for (const [given, value] of endToEnd(headers)) {
    const name = given.toLowerCase();
    const passed = NOT_ANSWERED.test(name) ? undefined : valueToVisitor(name, value, origins);
    if (passed !== undefined) kept.append(name, passed);
  }
  return kept;
}

function valueToVisitor(name: string, value: string, { visitor, program }: Origins): string | undefined {
  switch (name) {
    case "set-cookie":
      return ownCookie(value);
    case "location":
    case "content-location":
      return aliasesOf(program).reduce((url, alias) => moved(url, alias, visitor), value);
    case "access-control-allow-origin":
      return value === program ? visitor : value;
    case "clear-site-data":
      return clearable(value);
    default:
      return value;
  }
}

/** `"cookies"` and `"*"` clear the cookies of all subdomains of the domain, other devices' too. */
function clearable(value: string): string | undefined {
  const own = value
    .split(",")
    .map((part) => part.trim())
    .filter((part) => /^"(?:cache|storage)"$/i.test(part));
  return own.length > 0 ? own.join(", ") : undefined;
}

/** How a program may call itself: by https too, where it believes `X-Forwarded-Proto`; without the port, where a scheme implies it. */
function aliasesOf(program: string): string[] {
  const port = program.slice(program.lastIndexOf(":"));
  return ["localhost", "127.0.0.1", "[::1]"].flatMap((host) => [
    ...["http:", "https:", ""].map((scheme) => `${scheme}//${host}${port}`),
    ...(port === ":80" ? [`http://${host}`, `//${host}`] : []),
    ...(port === ":443" ? [`https://${host}`] : []),
  ]);
}

/** A URL of one origin as the same of another; any other URL as it is. */
function moved(url: string, from: string, to: string): string {
  const isOf = url.toLowerCase().startsWith(from) && /^(?:$|[/?#])/.test(url.slice(from.length));
  return isOf ? `${to}${url.slice(from.length)}` : url;
}
