/** Tokens, logins and browsers as people read them. */
import { callerError } from "@matrx/shared/errors.ts";
import type { TokenDetails, TokenView } from "@matrx/shared/token-api.ts";
import { oneLine, plain } from "./print.ts";

/** A row of `matrx token list`: name, kind, what it may do, until when, id. */
export function tokenRow(view: TokenView): string[] {
  return [view.name, kindOf(view), summaryOf(view), view.expires.slice(0, 10), view.id];
}

/** What `matrx token show` prints. */
export function tokenText(view: TokenDetails): string {
  const { name, id, created, expires, devices_holding: all, devices_acknowledged: told, holders } = view;
  const late = holders.filter(({ acknowledged }) => !acknowledged).map(({ device }) => device);
  const used = all === 0 ? "not used yet" : `used on ${all} ${all === 1 ? "device" : "devices"}`;
  const confirmed = all === told ? "" : `; ${told} of them know its last change, not yet: ${late.join(", ")}`;
  return [
    `${oneLine(name)} (${id}): ${kindOf(view)}`,
    `  ${plain(summaryOf(view))}`,
    ...(view.client ? [`  connected by OAuth: ${clientText(view.client)}`] : []),
    `  made ${created.slice(0, 10)}, until ${expires.slice(0, 10)}; ${used}${confirmed}`,
  ].join("\n");
}

function clientText({ name, host }: NonNullable<TokenView["client"]>): string {
  return `"${plain(name)}", ${host ? `of ${plain(host)}` : "not verified"}`;
}

/** What a caller is signed in with. */
export const SIGNED_IN_BY = {
  web: "the browser",
  cli: "the login",
  api: "the token",
  share: "the share",
} as const;

const KINDS = { web: "browser", cli: "login", api: "token", share: "share" } as const;
const CREDENTIALS = { ai: "AI grant", script: "own script", guest: "share" } as const;

function kindOf({ kind, credential, client }: TokenView): string {
  if (client) return "AI app";
  return credential && credential !== "person" ? CREDENTIALS[credential] : KINDS[kind];
}

/** An older relay does not send it. */
function summaryOf({ summary, access, devices, paths }: TokenView): string {
  if (summary !== undefined) return summary;
  const folders = paths ? ` in ${paths.join(", ")}` : "";
  return `${access === "full" ? "full access" : "may read"}${folders} on ${devices?.join(", ") ?? "all devices"}`;
}

/** By id, or by a name that only one has, because revoking cannot be undone. Throws MatrxError `NOT_FOUND`. */
export function chosenToken(tokens: readonly TokenView[], wanted: string): TokenView {
  const found = tokens.filter(({ id, name }) => id === wanted || name === wanted);
  const [token] = found;
  if (token && found.length === 1) return token;
  throw callerError(
    "NOT_FOUND",
    token ? `${found.length} tokens are named "${wanted}"` : `You have no token "${wanted}"`,
    {
      hint: token
        ? `Give the id of one: ${found.map(({ id }) => id).join(", ")}`
        : "matrx token list shows them",
    },
  );
}
