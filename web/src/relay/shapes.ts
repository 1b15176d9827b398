/**
 * What pages cannot do without in the relay's answers. An answer that lacks it, from an older relay or from something else in
 * its place, is told as a problem instead of breaking the page. `test/web/shapes.test.ts` holds them against the schemas.
 */
import type { Answer, Line } from "./routes.ts";

/** `records`: a list of them. */
type Kind = "list" | "records" | "text" | "number" | "flag" | "record";

type KindOf<V> = V extends readonly (infer I)[]
  ? I extends object
    ? "records"
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
  "GET /v1/devices": { devices: "records" },
  "POST /v1/devices": { device: "record", token: "text" },
  "GET /v1/devices/{device}/tools": { tools: "records" },
  "POST /v1/devices/{device}/tools/{tool}": { type: "text", output: "text" },
  "GET /v1/devices/{device}/events": { events: "records" },
  "GET /v1/devices/{device}/calls": { calls: "records" },
  "GET /v1/devices/{device}/calls/{call}": { call: "text", tool: "text", state: "text" },
  "GET /v1/devices/{device}/policy": {},
  "PUT /v1/devices/{device}/policy": {},
  "POST /v1/devices/{device}/policy/explain": { decision: "text", rules: "records", notes: "list" },
  "GET /v1/devices/{device}/approvals/{approval}": { id: "text", state: "text", question: "record" },
  "POST /v1/devices/{device}/approvals/{approval}": { id: "text", state: "text", question: "record" },
  "GET /v1/approvals": { approvals: "records" },
  "GET /v1/pause": { paused: "flag" },
  "POST /v1/pause": { paused: "flag" },
  "POST /v1/calls/cancel": { cancelled: "number" },
  "GET /v1/push": { public_key: "text", subscriptions: "records" },
  "POST /v1/push/test": { results: "records" },
  "GET /v1/tokens": { tokens: "records" },
  "POST /v1/tokens": { id: "text", token: "text" },
  "GET /v1/tokens/{grant}": { id: "text", name: "text" },
  "PATCH /v1/tokens/{grant}": { id: "text", name: "text" },
  "GET /v1/passkeys": { passkeys: "records" },
  "GET /v1/recovery-codes": { left: "number" },
  "POST /v1/recovery-codes": { codes: "list" },
  "POST /v1/sign-in-links": { link: "text", qr_svg: "text" },
  "GET /v1/sign-in": { oidc: "records" },
  "GET /v1/invites": { invites: "records" },
  "POST /v1/invites": { link: "text", qr_svg: "text" },
  "GET /v1/shares": { given: "records", received: "records" },
  "POST /v1/shares": { link: "text", qr_svg: "text" },
  "GET /v1/pairings/{code}": { kind: "text", name: "text" },
  "GET /v1/audit": { entries: "records" },
  "GET /v1/audit/head": { seq: "number" },
};

const IS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  list: (value) => Array.isArray(value),
  records: (value) => Array.isArray(value) && value.every(isRecord),
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
  return Object.entries(shape).every(([name, kind]) => kind === undefined || IS[kind](answer[name]));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
