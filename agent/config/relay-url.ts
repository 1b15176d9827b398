/** The relay's address, and the addresses under it. */
import { isLoopback } from "@matrx/shared/public-url.ts";
import * as z from "zod";

/** An address such as `https://relay.example`; anything off this machine needs TLS. */
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

/** The audience that a device signs: the host, with the port unless it is the scheme's default. */
export function hostOf(relay: string): string {
  return new URL(relay).host;
}

/** The WebSocket address for a device. */
export function deviceSocketUrl(relay: string, device: string): string {
  return `${webSocketBase(relay)}/v1/device/ws?device=${encodeURIComponent(device)}`;
}

/** The WebSocket address for a caller of one device. */
export function callerSocketUrl(relay: string, device: string, session?: string): string {
  const query = session ? `?session=${encodeURIComponent(session)}` : "";
  return `${webSocketBase(relay)}/v1/devices/${encodeURIComponent(device)}/ws${query}`;
}

function webSocketBase(relay: string): string {
  return relay.replace(/^http/, "ws");
}
