/** Which applications a caller may start, and with which arguments. */
import type { Caller, Needs, Rights } from "../core/gate.ts";
import type { FileAccess, Files } from "../fs/access.ts";
import type { Platform } from "../platform/platform.ts";
import { ROOT } from "../platform/run-program.ts";
import { checkIsDocument } from "./documents.ts";
import { deniedError, wrongParameterError } from "./errors.ts";
import { openableAddress } from "./web-address.ts";

export interface AppStart {
  readonly app: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

/** What a start needs of the gate. Throws MatrxError `INVALID_PARAMETERS`. */
export function neededToStart(
  platform: Platform,
  { app, args }: Omit<AppStart, "cwd">,
  { mayRunAnyProgram }: Rights,
): Needs {
  checkName(app, platform);
  const documents = mayRunAnyProgram ? [] : args.filter((arg) => isDocument(arg, platform));
  const opened = platform.path.isAbsolute(app) ? [app, ...documents] : documents;
  return {
    app: { name: app, isListedAs: (listed) => sameApp(listed, app, platform) },
    paths: opened.map((path) => ({ path, intent: "read" })),
    subjects: [app, ...args],
  };
}

/** What to start for a caller that the gate admitted, with its permitted arguments. Throws MatrxError. */
export async function allowedStart(
  files: Files,
  caller: Caller,
  { app, args }: Omit<AppStart, "cwd">,
): Promise<AppStart> {
  const access = await files.as(caller);
  if (files.platform.path.isAbsolute(app)) await access.findToHandOver(app);
  if (caller.rights.mayRunAnyProgram) return { app, args, cwd: caller.session.cwd };
  const checked: string[] = [];
  for (const arg of args) checked.push(await confinedArgument(arg, app, access));
  return { app, args: checked, cwd: ROOT };
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

/** Compares names as the system compares file names; on Windows with or without `.exe`, on macOS `.app`. */
function sameApp(allowed: string, app: string, platform: Platform): boolean {
  const plain = (name: string) => {
    const folded = platform.name === "Linux" ? name : platform.fold(name);
    if (platform.name === "Windows") return folded.replace(/\.exe$/, "");
    return folded.replace(platform.name === "Darwin" ? /\.app$/ : /\.desktop$/, "");
  };
  return plain(allowed) === plain(app);
}

const WEB_ADDRESS = /^https?:/i;

/** Neither a web address nor an option. */
function isDocument(arg: string, { name }: Platform): boolean {
  return !WEB_ADDRESS.test(arg) && !arg.startsWith("-") && !(name === "Windows" && arg.startsWith("/"));
}

/** A web address, or a document or folder that may be read, by its whole path. An option could make the application a shell. */
async function confinedArgument(arg: string, app: string, access: FileAccess): Promise<string> {
  if (WEB_ADDRESS.test(arg)) return openableAddress(arg);
  if (!isDocument(arg, access.platform)) {
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
