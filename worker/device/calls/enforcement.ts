/**
 * Limits that a device cannot enforce by itself. Our agent enforces all of them, older agents not closed paths. Bare devices
 * are told the policy and enforce it themselves (device document, Device Registered); the relay enforces it too where it
 * can see what a call touches, and refuses the call where it cannot. A bare device is never told a grant's folders.
 */
import { ClosedPaths } from "@matrx/shared/access-rules.ts";
import type { ExecuteOpens } from "@matrx/shared/device-frames.ts";
import { isPortTool } from "@matrx/shared/effects.ts";
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { type Policy, refusalOf } from "@matrx/shared/policy.ts";
import { portIn } from "@matrx/shared/policy-explain.ts";
import type { DeviceAttachment } from "../connection.ts";
import { ENFORCES_ALL, HAS_STREAMS } from "../store.ts";

/** Throws MatrxError `PERMISSION_DENIED`. `input` is JSON. */
export function requireEnforced(
  tool: string,
  input: string,
  grant: GrantScope,
  policy: Policy,
  { ours, protocol }: Pick<DeviceAttachment, "ours" | "protocol">,
): void {
  if (isPortTool(tool)) requirePort(tool, input, grant, policy);
  if (ours && protocol >= ENFORCES_ALL) return;
  const closing = closerOf(grant, policy);
  if (ours) {
    if (closing) throw outdatedError(closing);
    return;
  }
  if (grant.paths) throw cannotLimitError("The token's grant is limited to folders");
  if (closing === GRANT) throw cannotLimitError("The token's grant keeps paths closed");
  if (tool === "open_app" && policy.allowed_apps) requireApp(fieldOf(input, "app"), policy.allowed_apps);
  else if (policy.allowed_paths || policy.denied_paths) requirePath(tool, input, policy);
}

/** Throws MatrxError `UNAVAILABLE` if a call opens a stream, and the device does not support streams. */
export function requireStreams(
  opens: ExecuteOpens | undefined,
  { ours, protocol }: Pick<DeviceAttachment, "ours" | "protocol">,
): void {
  if (!opens || (ours && protocol >= HAS_STREAMS)) return;
  throw relayError("UNAVAILABLE", "The program on this device does not support streams", {
    hint: ours ? "Update the agent there" : "Run the Matrx agent there",
  });
}

const GRANT = "the token's grant";

/** Who keeps paths closed; undefined: nobody does. */
function closerOf(grant: GrantScope, policy: Policy): string | undefined {
  if (grant.denied_paths || (!grant.owner && grant.secrets !== "open")) return GRANT;
  return policy.denied_paths || policy.sandbox ? "the device's policy" : undefined;
}

/** Tools of the device document that name exactly one path. */
const WITH_PATH: ReadonlySet<string> = new Set(["create_directory", "delete_directory", "search_files"]);

function requirePath(tool: string, input: string, { allowed_paths, denied_paths = [] }: Policy): void {
  if (!WITH_PATH.has(tool)) throw cannotLimitError("The device's policy is limited to folders");
  const path = fieldOf(input, "path");
  const parts = path === undefined ? undefined : partsOf(path);
  const isWithin = allowed_paths?.some((folder) => {
    const allowed = partsOf(folder);
    return parts && allowed?.every((part, index) => part === parts[index]);
  });
  if (!parts || isWithin === false) throw outsideError(path, allowed_paths ?? []);
  // The relay does not know the home folder, so a glob that begins with ~ could close any path.
  if (denied_paths.some((glob) => glob.startsWith("~")))
    throw cannotLimitError("The device's policy closes paths in the home folder");
  // A search or a deletion reaches what lies below the path, too.
  if (tool !== "create_directory" && denied_paths.length > 0)
    throw cannotLimitError("The device's policy closes paths");
  const glob = new ClosedPaths(denied_paths, undefined).closing(path ?? "");
  if (glob !== undefined) throw closedError(path, glob);
}

/** The agent checks it again; here, nothing is recorded or asked about a port that the policy does not allow. */
function requirePort(tool: string, input: string, grant: GrantScope, policy: Policy): void {
  const port = portIn(JSON.parse(input) as Record<string, unknown>);
  const refusal = refusalOf({ tool, grant, policy, port, confinesCommands: true }, "relay");
  if (refusal) throw new MatrxError(refusal);
}

function requireApp(app: string | undefined, apps: readonly string[]): void {
  const plain = (name: string) => name.toLowerCase().replace(/\.exe$/, "");
  if (app !== undefined && apps.some((one) => plain(one) === plain(app))) return;
  throw relayError(
    "PERMISSION_DENIED",
    `Starting ${app?.slice(0, 200) ?? "an application"} is not allowed by the device's policy`,
    { hint: apps.length > 0 ? `Allowed: ${apps.slice(0, 20).join(", ")}` : "No application is allowed" },
  );
}

function fieldOf(input: string, name: string): string | undefined {
  const value = (JSON.parse(input) as Record<string, unknown>)[name];
  return typeof value === "string" ? value : undefined;
}

/**
 * The segments of an absolute path, starting with the drive or the root; the same for all its spellings. Undefined if it
 * is not absolute, or if the system could resolve it to another path.
 */
function partsOf(path: string): string[] | undefined {
  const isWindows = /^(?:[a-z]:[\\/]|\\\\)/i.test(path);
  if (!isWindows && !path.startsWith("/")) return undefined;
  const parts = (isWindows ? path.toLowerCase() : path).split(isWindows ? /[\\/]+/ : /\/+/);
  // Windows ignores dots and spaces at the end of a name: "... " is "..".
  const odd = isWindows ? /[. ]$/ : /^\.\.?$/;
  const names = parts.filter((part) => part !== "");
  if (path.includes("\0") || names.some((name) => odd.test(name))) return undefined;
  return [isWindows ? "windows" : "posix", ...names];
}

function cannotLimitError(why: string): MatrxError {
  return relayError("PERMISSION_DENIED", `${why}, and this device can't enforce that`, {
    hint: "Use a token and tools without folder limits, or run the Matrx agent there",
  });
}

function outdatedError(closing: string): MatrxError {
  return relayError(
    "PERMISSION_DENIED",
    `${sentence(closing)} keeps paths closed, and the agent on this device is too old to enforce that`,
    { hint: "Update the agent there" },
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function closedError(path: string | undefined, glob: string): MatrxError {
  return relayError(
    "PERMISSION_DENIED",
    `Access to ${path?.slice(0, 500)} is closed by the device's policy`,
    {
      hint: "Ask the owner whether this call should be allowed",
      details: { path: path?.slice(0, 500), denied_paths: [glob] },
    },
  );
}

function outsideError(path: string | undefined, folders: readonly string[]): MatrxError {
  const allowed = folders.slice(0, 8).join(", ");
  return relayError(
    "PERMISSION_DENIED",
    `Access to ${path?.slice(0, 500) ?? "an unnamed path"} is not allowed by the device's policy`,
    {
      hint: allowed ? `Give an absolute path without dots. Allowed: ${allowed}` : "No folder is allowed",
      details: {
        ...(path !== undefined && { path: path.slice(0, 500) }),
        allowed_paths: folders.slice(0, 64),
      },
    },
  );
}
