/**
 * Limits on folders and applications for bare devices. They are told the policy and enforce it themselves (device
 * document, Device Registered). The relay enforces it too where it can see what a call touches, and refuses the call
 * where it cannot. A bare device is never told a grant's folders.
 */
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { Policy } from "@matrx/shared/policy.ts";

/** Throws MatrxError `PERMISSION_DENIED`. `input` is JSON. */
export function requireWithinLimits(
  tool: string,
  input: string,
  { paths }: Pick<GrantScope, "paths">,
  { allowed_paths, allowed_apps }: Policy,
): void {
  if (paths) throw cannotLimitError("The token's grant is limited to folders");
  if (tool === "open_app" && allowed_apps) requireApp(fieldOf(input, "app"), allowed_apps);
  else if (allowed_paths) requireFolder(tool, input, allowed_paths);
}

/** Tools of the device document that name exactly one path. */
const WITH_PATH: ReadonlySet<string> = new Set(["create_directory", "delete_directory", "search_files"]);

function requireFolder(tool: string, input: string, folders: readonly string[]): void {
  if (!WITH_PATH.has(tool)) throw cannotLimitError("The device's policy is limited to folders");
  const path = fieldOf(input, "path");
  const parts = path === undefined ? undefined : partsOf(path);
  const isWithin = folders.some((folder) => {
    const allowed = partsOf(folder);
    return parts && allowed?.every((part, index) => part === parts[index]);
  });
  if (!isWithin) throw outside(path, folders);
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

function outside(path: string | undefined, folders: readonly string[]): MatrxError {
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
