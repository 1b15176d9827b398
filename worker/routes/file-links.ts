/** Links to files: a person makes them, and whoever has one downloads the file. */
import { readBody } from "@matrx/shared/caller/body.ts";
import { factsOf, fileResponse } from "@matrx/shared/caller/files/download.ts";
import { ERROR_CODES, type ErrorCode, MatrxError, relayError } from "@matrx/shared/errors.ts";
import { fileLinkSchema, newFileLinkSchema } from "@matrx/shared/file-link-api.ts";
import { type AccountId, type DeviceId, type GrantId, isAccountId, randomBase32 } from "@matrx/shared/ids.ts";
import type { Context } from "hono";
import * as z from "zod";
import { linkOrigin } from "../auth/address.ts";
import type { Caller } from "../auth/caller.ts";
import { unauthenticated } from "../auth/keys.ts";
import { hashOf } from "../auth/token-hash.ts";
import { CALLER_BODY } from "../body.ts";
import type { Env } from "../env.ts";
import { knownAccount } from "../known-accounts.ts";
import { unwrap } from "../outcome.ts";
import { DevicePort } from "../port/device-port.ts";
import { reachDevice } from "../reach.ts";
import type { RelayEnv, RelayRoute } from "../route.ts";

const LINK = "owner.grant_4k7m2x9qpatr6w1z.7h2k9m4x0q3v8n5c1b6z2w4t0p";

/** In paths. */
export const LINK_PARAMETERS = {
  link: {
    schema: z.string(),
    description: "Account, grant and secret of a link, as `POST /v1/devices/{device}/file-links` makes it",
    example: LINK,
  },
  name: { schema: z.string(), description: "A name for the file; any", example: "report.pdf" },
} as const;

/** 130 bits. */
const SECRET_CHARACTERS = 26;

export const newFileLinkRoute: RelayRoute = {
  method: "POST",
  path: "/v1/devices/{device}/file-links",
  id: "createFileLink",
  tag: "Files",
  summary: "Make a link to a file",
  description:
    "Whoever has the link may download that file as it is then, and nothing else, until it expires or its grant is revoked. Files that hold secrets are closed, as for every grant but the owner's.",
  access: "person",
  body: { schema: newFileLinkSchema, example: { path: "/home/ann/report.pdf", hours: 24 } },
  answers: {
    201: {
      description: "The link, shown only once",
      schema: fileLinkSchema,
      example: {
        id: "grant_4k7m2x9qpatr6w1z",
        url: `https://relay.example/f/${LINK}/report.pdf`,
        path: "/home/ann/report.pdf",
        expires: "2026-01-02T09:00:00.000Z",
      },
    },
  },
  errors: ["NOT_FOUND", "DEVICE_OFFLINE", "PERMISSION_DENIED", "RATE_LIMITED"],
  answer: async (c) => {
    const wish = await readBody(c.req.raw, CALLER_BODY, newFileLinkSchema);
    const { account, grant: person } = c.var.caller;
    const device = c.req.param("device") as DeviceId;
    const found = await factsOf(await portTo(c.env, c.var.caller, device), c.req.raw, { path: wish.path });
    if (found instanceof Response) return found;
    const { path } = found.facts;
    const secret = randomBase32(SECRET_CHARACTERS);
    const hash = await hashOf(secret);
    const accounts = c.env.ACCOUNT.getByName(account);
    const { id, expires } = unwrap(await accounts.createFileLink(person, device, { ...wish, path }, hash));
    // Whoever opens the link would be told the same.
    const port = await portTo(c.env, { account, grant: id, expires }, device);
    const look = new Request(c.req.url, { method: "HEAD" });
    const checked = await fileResponse(port, look, { path, follow_links: false });
    if (!checked.ok) {
      unwrap(await accounts.revokeToken(person, id));
      return checked;
    }
    c.header("Cache-Control", "no-store");
    const url = `${linkOrigin(c.env, c.req.raw)}/f/${account}.${id}.${secret}/${nameOf(path)}`;
    return c.json({ id, url, path, expires: new Date(expires).toISOString() }, 201);
  },
};

function nameOf(path: string): string {
  return encodeURIComponent(path.split(/[\\/]/).at(-1) || "files");
}

async function portTo(env: Env, caller: Caller, device: string): Promise<DevicePort> {
  const reached = await reachDevice(env, caller, device);
  return new DevicePort(env, reached.caller, device, reached.device);
}

export const fileLinkRoute: RelayRoute = {
  method: "GET",
  path: "/f/{link}/{name}",
  id: "openFileLink",
  tag: "Files",
  summary: "Download the file of a link",
  description: "As `getFile`. The name is for people and programs that save it; the link alone decides.",
  access: "anyone",
  answers: { 200: { description: "The file", other: { "application/octet-stream": "The bytes" } } },
  errors: ["UNAUTHENTICATED", "NOT_FOUND", "DEVICE_OFFLINE", "RATE_LIMITED"],
  answer: async (c) => {
    const { caller, device, path } = await openedLink(c);
    const port = await portTo(c.env, caller, device);
    const response = await fileResponse(port, c.req.raw, { path, follow_links: false });
    if (response.status === 202 || response.status >= 500 || UNTOLD.has(response.status))
      throw await withoutPlaces(response);
    // No page that is opened from it may learn the link, and no search engine may keep it.
    const headers = new Headers(response.headers);
    headers.set("Referrer-Policy", "no-referrer");
    headers.set("X-Robots-Tag", "noindex");
    return new Response(response.body, { status: response.status, headers });
  },
};

/** Their bodies name paths, devices and calls, which are none of a stranger's business. */
const UNTOLD: ReadonlySet<number> = new Set([400, 401, 403, 404, 409, 429]);
const problemCodeSchema = z.object({ code: z.enum(ERROR_CODES).catch("UNAVAILABLE") });

/** What whoever opens a link is told when the file can't be sent. */
async function withoutPlaces(response: Response): Promise<MatrxError> {
  const { code } = problemCodeSchema.parse(await response.json());
  const message = REASONS[code] ?? "The file can't be sent now";
  return relayError(code, message, { hint: "Try again later, or ask whoever sent you the link" });
}

const REASONS: Partial<Record<ErrorCode, string>> = {
  NOT_FOUND: "The file is no longer there",
  CONFLICT: "The file has changed place",
  DEVICE_OFFLINE: "The machine that has the file is offline",
  PERMISSION_DENIED: "The owner of the machine no longer allows this",
  RATE_LIMITED: "The link is being opened too often",
  UNAVAILABLE: "The machine that has the file can't send it now",
};

async function openedLink({ env, req }: Context<RelayEnv>) {
  const [account = "", grant = "", secret = ""] = (req.param("link") ?? "").split(".");
  const known = isAccountId(account) ? await knownAccount(env, account as AccountId) : undefined;
  const target = await known?.fileLinkTarget(grant as GrantId, await hashOf(secret));
  if (!target)
    throw new MatrxError(unauthenticated("This link has ended, or never was", "Ask for a new one"));
  const { device, path, expires } = target;
  const caller: Caller = { account: account as AccountId, grant: grant as GrantId, expires };
  return { caller, device, path };
}
