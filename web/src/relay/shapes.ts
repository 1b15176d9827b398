/**
 * What pages cannot do without in the relay's answers. An answer that lacks it, from an older relay or from something else in
 * its place, is told as a problem instead of breaking the page. `test/web/shapes.test.ts` holds them against the schemas.
 */
import type { Answer, Line } from "./routes.ts";

/** Names: of texts that each record of a list has. */
type Kind = "list" | "text" | "number" | "flag" | "record" | readonly string[];

type KindOf<V> = V extends readonly (infer I)[]
  ? I extends object
    ? readonly (keyof I & string)[]
    : "list"
  : V extends string
    ? "text"
    : V extends number
      ? "number"
      : V extends boolean
        ? "flag"
        : "record";

type Shape<A> = { readonly [K in keyof A & string]?: KindOf<A[K]> };

export const SHAPES: { readonly [L in Line]?: Shape<Answer<L>> } = {
  "GET /v1/account": { account: "text", grant: "text", person: "flag" },
  "GET /v1/devices": { devices: ["id", "name", "kind", "state", "created"] },
  "POST /v1/devices": { device: "record", token: "text" },
  "GET /v1/devices/{device}/tools": { tools: ["name", "description", "effect"] },
  "POST /v1/devices/{device}/tools/{tool}": { type: "text", output: "text" },
  "GET /v1/devices/{device}/events": { events: ["id", "event_type", "received"] },
  "GET /v1/devices/{device}/calls": { calls: ["call", "device", "tool", "state", "created"] },
  "GET /v1/devices/{device}/calls/{call}": { call: "text", tool: "text", state: "text" },
  "GET /v1/devices/{device}/policy": {},
  "PUT /v1/devices/{device}/policy": {},
  "POST /v1/devices/{device}/policy/explain": {
    decision: "text",
    rules: ["by", "field", "says"],
    notes: "list",
  },
  "GET /v1/devices/{device}/approvals/{approval}": { id: "text", state: "text", question: "record" },
  "POST /v1/devices/{device}/approvals/{approval}": { id: "text", state: "text", question: "record" },
  "GET /v1/approvals": {
    approvals: ["id", "device", "call", "grant", "tool", "effect", "summary", "state", "expires"],
  },
  "GET /v1/pause": { paused: "flag" },
  "POST /v1/pause": { paused: "flag" },
  "POST /v1/calls/cancel": { cancelled: "number" },
  "GET /v1/push": { public_key: "text", subscriptions: ["id", "name", "created"] },
  "POST /v1/push/test": { results: [] },
  "GET /v1/tokens": { tokens: ["id", "name", "kind", "created", "expires"] },
  "POST /v1/tokens": { id: "text", token: "text" },
  "GET /v1/tokens/{grant}": { id: "text", name: "text" },
  "PATCH /v1/tokens/{grant}": { id: "text", name: "text" },
  "GET /v1/passkeys": { passkeys: ["id", "name", "host"] },
  "GET /v1/recovery-codes": { left: "number" },
  "POST /v1/recovery-codes": { codes: "list" },
  "POST /v1/sign-in-links": { link: "text", qr_svg: "text" },
  "GET /v1/sign-in": { oidc: ["id", "name"] },
  "GET /v1/invites": { invites: ["id", "name", "account", "created", "expires"] },
  "POST /v1/invites": { link: "text", qr_svg: "text" },
  "GET /v1/shares": {
    given: ["id", "name", "created", "expires"],
    received: ["id", "name", "shared_by", "summary", "accepted", "expires"],
  },
  "POST /v1/shares": { link: "text", qr_svg: "text" },
  "GET /v1/pairings/{code}": { kind: "text", name: "text" },
  "GET /v1/audit": { entries: ["at", "type"] },
  "GET /v1/audit/head": { seq: "number" },
};

const IS: Readonly<Record<Kind & string, (value: unknown) => boolean>> = {
  list: (value) => Array.isArray(value),
  text: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  flag: (value) => typeof value === "boolean",
  record: isRecord,
};

/** Tells whether an answer has what pages need of it. */
export function fits<L extends Line>(line: L, answer: unknown): answer is Answer<L> {
  const shape: Readonly<Record<string, Kind | undefined>> | undefined = SHAPES[line];
  if (shape === undefined) return true;
  if (!isRecord(answer)) return false;
  return Object.entries(shape).every(([name, kind]) => kind === undefined || isOf(kind, answer[name]));
}

function isOf(kind: Kind, value: unknown): boolean {
  if (typeof kind === "string") return IS[kind](value);
  const hasTexts = (each: unknown) => isRecord(each) && kind.every((name) => typeof each[name] === "string");
  return Array.isArray(value) && value.every(hasTexts);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
