/** The last thing that `npm start` prints: where the relay is, how to sign in, and a first call to paste. */
import type { DeviceView } from "../../shared/api.ts";
import { DEFAULT_DATA } from "../tree.ts";
import { authorizationFile } from "./token.ts";

export interface Running {
  /** For this machine itself. */
  url: string;
  /** For people. */
  publicUrl: string;
  dataDir: string;
  signInLink: string;
  device: Pick<DeviceView, "id" | "name" | "state" | "records_lost">;
}

/** A loss is shown for so long, in milliseconds. */
const LOSS_SHOWN = 24 * 60 * 60 * 1000;

export function screenOf({ url, publicUrl, dataDir, signInLink, device }: Running): string {
  const here = publicUrl === url ? "" : `\n            ${url} on this machine`;
  return `
Matrx Relay is running. Ctrl-C stops it; terminals and commands in the background go on.

  Address   ${publicUrl}${here}
  Device    ${device.name}: ${device.state} (${device.id})
  Sign in   ${signInLink}
            Works once, within a day; \`${linkCommand(dataDir)}\` makes another.
${lossOf(device)}
Ask this machine for its system information, through the relay:

${curlLine({ url, dataDir, device: device.id })}
`;
}

/** What happened to the relay's records, if that was lately. */
function lossOf({ id, records_lost }: Running["device"]): string {
  if (!records_lost || Date.now() - Date.parse(records_lost) > LOSS_SHOWN) return "";
  return `
The relay's storage lost records of calls: its disk lost power, or its data is an older backup's. Calls with a
key do not run twice. Look at the device's policy, for a change of it may be lost too: matrx policy ${id}
`;
}

/** What makes another sign-in link for the relay on this folder. */
function linkCommand(dataDir: string): string {
  return dataDir === DEFAULT_DATA ? "npm run link" : `npm run link -- --data ${quote(dataDir)}`;
}

/** A first call as one line for a shell. The token stays in its file, out of the shell's history and the process list. */
export function curlLine({ url, dataDir, device }: { url: string; dataDir: string; device: string }): string {
  const header = quote(`@${authorizationFile(dataDir)}`);
  return `curl -sS -H ${header} -H 'Content-Type: application/json' -d '{}' ${url}/v1/devices/${device}/tools/SystemInfo`;
}

/** Quotes a word for a POSIX shell, where it needs quotes. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
