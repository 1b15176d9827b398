/** Finds out what is at an address of this computer, as far as a browser tells a page. */
import type { problemSchema } from "@matrx/shared/api.ts";
import type * as z from "zod";
import type { Obstacle } from "./local.ts";

/** How long an answer may take, in milliseconds: longer while the browser asks the person whether this page may ask at all. */
const WITHIN = { usual: 5_000, asked: 60_000 };
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
/** What such a token is made of: nothing else fits into a WebSocket's subprotocol. */
const TOKEN = /^[!#$%&'*+.^`|~\w-]*$/;

export interface Target {
  readonly address: string;
  /** Empty: none. */
  readonly token: string;
}

export type Found =
  | { readonly kind: "ready"; readonly version: string | undefined }
  | { readonly kind: "obstacle"; readonly obstacle: Obstacle; readonly said?: string };

/** Looks whether a local server is there that takes this page and this token. Never rejects. */
export async function lookAt({ address, token }: Target): Promise<Found> {
  const permission = await loopbackPermission();
  if (permission === "denied") return met("blocked");
  const within = permission === "prompt" ? WITHIN.asked : WITHIN.usual;
  const greeting = await ask(`${address}/`, within);
  if (!greeting) return met((await isListening(address, within)) ? "refused" : "nothing");
  const { name, version } = await objectOf(greeting);
  // Nobody else gets the token.
  if (name !== "matrx") return met("foreign");
  if (!TOKEN.test(token)) return met("wrong token");
  const answer = await ask(`${address}/tools/list`, WITHIN.usual, token);
  if (!answer) return met("nothing");
  if (answer.status === 401) return met(token ? "wrong token" : "no token");
  if (!answer.ok) return { kind: "obstacle", obstacle: "other", said: await saidBy(answer) };
  return { kind: "ready", version: typeof version === "string" ? version : undefined };
}

function met(obstacle: Obstacle): Found {
  return { kind: "obstacle", obstacle };
}

/** Undefined: there was no answer, or none that this page may read. The two look the same here. */
async function ask(url: string, within: number, token?: string): Promise<Response | undefined> {
  const headers = token ? { Authorization: `Bearer ${token}` } : undefined;
  return fetch(url, { ...PLAIN, ...(headers && { headers }), signal: AbortSignal.timeout(within) }).catch(
    () => undefined,
  );
}

const PLAIN: RequestInit = { credentials: "omit", cache: "no-store", redirect: "error" };

/** An answer that the page may not read is an answer all the same. */
async function isListening(address: string, within: number): Promise<boolean> {
  const init: RequestInit = { credentials: "omit", cache: "no-store", mode: "no-cors" };
  return fetch(`${address}/`, { ...init, signal: AbortSignal.timeout(within) }).then(
    () => true,
    () => false,
  );
}

/** Some browsers ask the person before a page of another computer may reach this one. Undefined: this one does not, or not here. */
async function loopbackPermission(): Promise<PermissionState | undefined> {
  if (LOOPBACK.includes(location.hostname)) return undefined;
  for (const name of ["loopback-network", "local-network-access"]) {
    // Names that a browser does not know are errors.
    const status = await navigator.permissions.query({ name } as PermissionDescriptor).catch(() => undefined);
    if (status) return status.state;
  }
  return undefined;
}

async function objectOf(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const value: unknown = await response.json().catch(() => undefined);
  return typeof value === "object" && value !== null ? { ...value } : {};
}

async function saidBy(response: Response): Promise<string> {
  const { detail, title, hint }: Partial<z.infer<typeof problemSchema>> = await objectOf(response);
  return [detail ?? title ?? `It answered ${response.status}`, hint].filter(Boolean).join(". ");
}
