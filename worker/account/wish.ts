/** From what a person asks of a token to what its grant says. Pure. */
import type { AskRule } from "@matrx/shared/access-rules.ts";
import { EFFECTS } from "@matrx/shared/effects.ts";
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import { credentialOf, type Grant } from "@matrx/shared/grant.ts";
import { type Excepted, excepting } from "@matrx/shared/policy.ts";
import type { NewShare } from "@matrx/shared/share-api.ts";
import type { ChangedToken, NewToken } from "@matrx/shared/token-api.ts";
import type { May } from "./grants.ts";

/** Asked of every new AI grant that does not say otherwise. */
const ASK_BY_DEFAULT: readonly AskRule[] = [{ effects: ["write", "execute"] }];

/** What a new token may do. Throws MatrxError `INVALID_PARAMETERS`. */
export function mayOf(wish: NewToken): May {
  if (wish.access) return olderMay(wish);
  const {
    credential = "ai",
    name: _,
    days: __,
    access: ___,
    paths,
    effects = [...EFFECTS],
    ...limits
  } = wish;
  const may = { ...limits, owner: credential === "script", effects } as May;
  if (paths) may.paths = paths;
  if (may.owner) {
    requireNone(wish, OF_AI_GRANTS, "An own script token acts as you, so this can't apply to it");
    return may;
  }
  if (paths === undefined) throw noFoldersError();
  return { ...may, ask: wish.ask ?? [...ASK_BY_DEFAULT] };
}

/** What a guest may do: nothing is asked unless the share says so. */
export function mayOfGuest({ name: _, days: __, paths, effects = [...EFFECTS], ...limits }: NewShare): May {
  return { ...limits, ...(paths && { paths }), owner: false, effects } as May;
}

const OF_AI_GRANTS = ["ask", "secrets"] as const;
const NOT_OF_OLDER = [
  ...OF_AI_GRANTS,
  "credential",
  "tags",
  "denied_paths",
  "tools",
  "tool_families",
  "effects",
  "network",
] as const;

/** The body of older clients, who know nothing of questions: none are asked. Secrets are closed all the same. */
function olderMay(wish: NewToken): May {
  requireNone(wish, NOT_OF_OLDER, "`access` is of older clients and excludes this; leave `access` out");
  const { access, devices, paths } = wish;
  const places = { ...(devices && { devices }), ...(paths && { paths }) };
  if (access === "read") return { ...places, owner: false, effects: ["read"] };
  return { ...places, owner: !paths, effects: [...EFFECTS] };
}

function requireNone(wish: NewToken, fields: readonly (keyof NewToken)[], why: string): void {
  const field = fields.find((field) => wish[field] !== undefined);
  if (field) throw relayError("INVALID_PARAMETERS", `${field}: ${why}`, { details: { field } });
}

/** The grant after a change; the same object if nothing is different. Throws MatrxError. */
export function changedGrant(grant: Grant, change: ChangedToken, now: number): Grant {
  const credential = credentialOf(grant);
  if (credential === "person")
    throw relayError("CONFLICT", "A sign-in has no limits to change", { hint: "Revoke it instead" });
  const { days, ...fields } = change;
  const refused = credential === "script" && OF_AI_GRANTS.find((field) => change[field]);
  if (refused)
    throw relayError(
      "INVALID_PARAMETERS",
      `${refused}: An own script token acts as you, so this can't apply`,
      {
        details: { field: refused },
      },
    );
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const kept = Object.entries(grant).filter(([name]) => !given.some(([field]) => field === name));
  const set = given.filter(([, value]) => value !== null);
  const next = { ...Object.fromEntries([...kept, ...set]), ...untilOf(grant, days, now) } as Grant;
  if (credential === "guest" && !next.devices && !next.tags) throw noDevicesError();
  return isSame(grant, next) ? grant : { ...next, version: grant.version + 1 };
}

/** The token's own expiry is signed into it: the grant can end sooner, and never later. A share has no token, a client renews its own. */
function untilOf(
  { kind, expires, token_expires = expires }: Grant,
  days: number | undefined,
  now: number,
): Pick<Grant, "expires" | "token_expires"> {
  if (days === undefined) return { expires };
  if (kind === "share" || kind === "link" || kind === "mcp") return { expires: now + days * DAY };
  const wanted = now + days * DAY;
  if (wanted > token_expires + DAY) throw tooLateError(token_expires);
  return { expires: Math.min(wanted, token_expires), token_expires };
}

const DAY = 24 * 60 * 60_000;

/** The grant with calls of this kind excepted from every rule that asks about them. Throws MatrxError if a name is not plain. */
export function withException(grant: Grant, excepted: Excepted): Grant {
  const { tool, also } = excepted;
  // A device chooses its tools' names: as a glob one would except others too, with a slash a part of another's work.
  if ([tool, ...also].some((name) => /[*?/]/.test(name)) || [tool, ...also].join("/").length > TOOL_CHARS)
    throw notExceptableError(tool);
  const ask = grant.ask?.map((rule) => excepting(rule, excepted));
  if (!ask || JSON.stringify(ask) === JSON.stringify(grant.ask)) return grant;
  if (ask.some(({ except = [] }) => except.length > EXCEPTED_MAX)) throw notExceptableError(tool);
  return { ...grant, ask, version: grant.version + 1 };
}

const TOOL_CHARS = 128;
const EXCEPTED_MAX = 256;

function isSame(one: Grant, other: Grant): boolean {
  const text = (grant: Grant) => JSON.stringify(Object.entries(grant).sort(([a], [b]) => (a < b ? -1 : 1)));
  return text(one) === text(other);
}

function noFoldersError(): MatrxError {
  return relayError("INVALID_PARAMETERS", "paths: An AI grant must say in which folders it may work", {
    hint: 'Give full paths, such as ["/home/ann/projects"] or ["/"]; null sets no limit to folders at all',
    details: { field: "paths" },
  });
}

function noDevicesError(): MatrxError {
  return relayError("INVALID_PARAMETERS", "devices: A share must say which devices it is for", {
    hint: "Name devices or tags; DELETE /v1/tokens/GRANT ends the share",
    details: { field: "devices" },
  });
}

function tooLateError(expires: number): MatrxError {
  const day = new Date(expires).toISOString().slice(0, 10);
  return relayError("INVALID_PARAMETERS", `days: The token itself expires on ${day}`, {
    hint: "Create a new token to have one that lasts longer",
    details: { field: "days" },
  });
}

function notExceptableError(tool: string): MatrxError {
  return relayError("CONFLICT", `The tool ${tool.slice(0, TOOL_CHARS)} can't be excepted from questions`, {
    hint: "Allow the call once, or change the token's `ask`",
  });
}
