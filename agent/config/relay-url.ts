/** The relay's URL, and the URLs below it. */
import { isLoopback } from "@matrx/shared/public-url.ts";
import * as z from "zod";

/** A URL such as `https://relay.example`; a relay on another machine needs TLS. */
export const relayUrlSchema = z
  .string("must be an http(s) URL")
  .refine((text) => urlOf(text) !== undefined, "must be an http(s) URL")
  .refine((text) => {
    const url = urlOf(text);
    return !url || url.protocol === "https:" || isLoopback(url.hostname);
  }, "must begin with https:// unless the relay is on this machine")
  .transform((text) => text.replace(/[?#].*$/, "").replace(/\/+$/, ""));

function urlOf(text: string): URL | undefined {
  const url = URL.parse(text);
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) return undefined;
  if (url.username || url.password) return undefined;
  return url;
}

/** What a device signs as the audience: the host, and the port unless it is the scheme's default. */
export function hostOf(relay: string): string {
  return new URL(relay).host;
}

/** The socket that a device connects to. */
export function deviceSocketUrl(relay: string, device: string): string {
  return `${webSocketBase(relay)}/v1/device/ws?device=${encodeURIComponent(device)}`;
}

/** The socket on which a caller talks to one device. */
export function callerSocketUrl(relay: string, device: string, session?: string): string {
  const query = session ? `?session=${encodeURIComponent(session)}` : "";
  return `${webSocketBase(relay)}/v1/devices/${encodeURIComponent(device)}/ws${query}`;
}

function webSocketBase(relay: string): string {
  return relay.replace(/^http/, "ws");
}
