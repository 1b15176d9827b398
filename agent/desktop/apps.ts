/** Which applications a caller may start, and with which arguments. */
import os from "node:os";
import type { Policy } from "@matrx/shared/policy.ts";
import { type Caller, type FileAccess, type Files, isConfined } from "../fs/access.ts";
import type { Platform } from "../platform/platform.ts";
import { checkIsDocument } from "./documents.ts";
import { deniedError, wrongParameterError } from "./errors.ts";
import { openableAddress } from "./web-address.ts";

export interface AppStart {
  readonly app: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

/** What is to be started, as far as it is allowed. Throws MatrxError. */
export async function allowedStart(
  files: Files,
  caller: Caller,
  { app, args }: Omit<AppStart, "cwd">,
): Promise<AppStart> {
  const confined = isConfined(caller);
  checkName(app, files.platform);
  checkIsNamed(app, caller, confined, files.platform);
  const access = await files.as(caller);
  if (files.platform.path.isAbsolute(app)) await access.findToHandOver(app);
  if (!confined) return { app, args, cwd: caller.session.cwd };
  const checked: string[] = [];
  for (const arg of args) checked.push(await confinedArgument(arg, app, access));
  return { app, args: checked, cwd: os.homedir() };
}

function checkName(app: string, { path }: Platform): void {
  const isPath = path.basename(app) !== app;
  if (app.startsWith("-") || (isPath && !path.isAbsolute(app))) {
    throw wrongParameterError(
      "app",
      `"${app}" is not an application's name`,
      "Give its name, or an absolute path",
    );
  }
}

function checkIsNamed(app: string, caller: Caller, confined: boolean, platform: Platform): void {
  const lists: [string, Policy["allowed_apps"]][] = [
    ["the device's policy", caller.policy.allowed_apps],
    ["the owner's policy at the relay", caller.relayPolicy?.allowed_apps],
  ];
  const known = lists.filter((list): list is [string, string[]] => list[1] !== undefined);
  const refusing = known.find(([, apps]) => !apps.some((one) => sameApp(one, app, platform)));
  if (refusing) {
    const [by, apps] = refusing;
    throw deniedError(
      `Starting ${app} is not allowed by ${by}`,
      apps.length > 0 ? `Allowed: ${apps.slice(0, 20).join(", ")}` : "No application is allowed",
      { app, allowed_apps: apps.slice(0, 64) },
    );
  }
  if (confined && known.length === 0) {
    throw deniedError(
      `Starting ${app} is refused: this call may not run programs, and no policy lists the applications it may start`,
      "Ask the owner to list it in allowed_apps of the device's policy",
      { app },
    );
  }
}

/** Names are compared as the system tells files apart; on Windows with or without `.exe`, on macOS `.app`. */
function sameApp(allowed: string, app: string, platform: Platform): boolean {
  const plain = (name: string) => {
    const folded = platform.name === "Linux" ? name : platform.fold(name);
    if (platform.name === "Windows") return folded.replace(/\.exe$/, "");
    return folded.replace(platform.name === "Darwin" ? /\.app$/ : /\.desktop$/, "");
  };
  return plain(allowed) === plain(app);
}

/** A web address, or a document or folder that may be read, by its whole path. An option could make the application a shell. */
async function confinedArgument(arg: string, app: string, access: FileAccess): Promise<string> {
  if (/^https?:/i.test(arg)) return openableAddress(arg);
  if (arg.startsWith("-") || (access.platform.name === "Windows" && arg.startsWith("/"))) {
    throw deniedError(
      `${app} can't be started with ${JSON.stringify(arg)}: only callers who may run any program can use options`,
      "Give only web addresses (http, https) and paths of documents",
      { app, argument: arg },
    );
  }
  const place = await access.findExisting(arg, "read");
  await checkIsDocument(access, place);
  return place.path;
}
