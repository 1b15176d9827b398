/** The token that the printed curl line reads: kept as a header line, so that it stands in no list of processes. */
import { join } from "node:path";
import { readIfThere, writePrivate } from "./data-folder.ts";
import { asOwner, isAccepted, makeToken } from "./owner.ts";
import type { Relay } from "./relay.ts";

/** How long a token of this kind lives. */
const DAYS = 365;

/** One line, `Authorization: Bearer <token>`, for `curl -H @file`. */
export function authorizationFile(dataDir: string): string {
  return join(dataDir, "authorization");
}

/** The token in the file; undefined if there is no file or no token in it. */
function readToken(dataDir: string): string | undefined {
  return readIfThere(authorizationFile(dataDir))?.match(/^Authorization: Bearer (\S+)\s*$/)?.[1];
}

/** The kept token, or a new one if there is none or the relay refuses it; `say` hears of the latter. */
export async function openToken(
  relay: Pick<Relay, "url" | "dataDir" | "claimCode">,
  say: (line: string) => void,
): Promise<string> {
  const file = authorizationFile(relay.dataDir);
  const kept = readToken(relay.dataDir);
  if (kept && (await isAccepted(relay, kept))) return kept;
  if (readIfThere(file) !== undefined)
    say("The saved token is damaged, expired or revoked: creating a new one ...");
  const token = await asOwner(relay, (session) =>
    makeToken(relay, session, { name: "start", credential: "script", days: DAYS }),
  );
  writePrivate(file, `Authorization: Bearer ${token}\n`);
  say(`Saved an own script token to ${file}: it acts as you on all your devices. Don't give it to an AI.`);
  return token;
}
