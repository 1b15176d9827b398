/** Finds what could mislead a person who reads a text before deciding on it. */
import { isIP } from "node:net";
import { hostname } from "node:os";
import { mixedWarning, mixedWords } from "@matrx/shared/mixed-letters.ts";
import { isLoopback } from "@matrx/shared/public-url.ts";
import { visibleText } from "@matrx/shared/question.ts";
import { isOwnAddress } from "../platform/own-address.ts";

const MOST_NAMED = 3;

const ASCII = /^\p{ASCII}*$/u;

/** Warnings about hidden characters, gaps that hide what follows them, and words of letters that only look alike. */
export function textWarnings(texts: readonly string[]): string[] {
  const odd = texts.filter((text) => !ASCII.test(text) || CONTROLS.test(text));
  const isHiding = odd.some((text) => visibleText(text) !== text);
  const mixed = [...new Set(odd.flatMap(mixedWords))];
  return [
    ...new Set(texts.flatMap(gapWarning)),
    ...(isHiding ? ["It contains hidden characters, written out here such as \\u{202E}"] : []),
    ...mixed.slice(0, MOST_NAMED).map(mixedWarning),
    ...(mixed.length > MOST_NAMED
      ? [`${mixed.length - MOST_NAMED} more words mix letters that look alike`]
      : []),
  ];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/;

/** Empty lines, as in a diff too, and spaces: so many that what follows may be out of sight. */
const GAP = /(?:\n[+-]?[ \t]*){20,}|[ \t]{100,}/g;

function gapWarning(text: string): string[] {
  const end = text.trimEnd().length;
  const gaps = [...text.matchAll(GAP)].filter(({ 0: gap, index }) => index > 0 && index + gap.length < end);
  const widest = gaps.map(([gap]) => gap).sort((one, other) => other.length - one.length)[0];
  if (widest === undefined) return [];
  const lines = widest.split("\n").length - 1;
  return [
    `It goes on after ${lines > 0 ? `${lines - 1} empty lines` : `${widest.length} spaces`}: look for its end`,
  ];
}

/** The page's part of a link that signs somebody in, or pairs a device. */
const SIGN_IN = /[#?&](?:claim|pair|code|token|ticket)=/i;

/** Warnings about an address that a person would open by allowing the call; `relay` is the relay's own. */
export function addressWarnings(address: string, relay: string | undefined): string[] {
  const url = URL.parse(address);
  if (!url || url.protocol === "mailto:") return [];
  const own = relay === undefined ? undefined : URL.parse(relay);
  const isSameHost = own && (hostOf(url) === hostOf(own) || (isLocal(url) && isLocal(own)));
  const isOwn = isSameHost && url.port === own.port;
  const local = isLocal(url) ? ["It leads to a program on this machine itself"] : [];
  return [
    ...(isOwn ? ["It leads to the relay's own pages, where you are signed in"] : local),
    ...(SIGN_IN.test(url.href)
      ? ["It may sign somebody in, or pair a device: open such a link only if you asked for it"]
      : []),
    ...(url.username || url.password ? [`It leads to ${url.host}, whatever stands before the @`] : []),
    ...(/(?:^|\.)xn--/.test(url.hostname)
      ? ["Its host has letters beyond a to z, written here as xn--"]
      : []),
  ];
}

/** Names that systems give themselves besides `localhost`. */
const OWN_NAMES: ReadonlySet<string> = new Set(["localhost.localdomain", "ip6-localhost", "ip6-loopback"]);

/** As the URL parser read it: other spellings of an IPv4 address are one already. */
function isLocal(url: URL): boolean {
  const host = hostOf(url);
  const family = isIP(host);
  if (family !== 0) return isOwnAddress(host);
  return isLoopback(host) || OWN_NAMES.has(host) || host === hostname().toLowerCase();
}

/** Without the brackets of IPv6, and the dot that may end any name. */
function hostOf({ hostname: host }: URL): string {
  return host.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
