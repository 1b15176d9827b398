/** The issuers that people may sign in at: `oidc.json` of the data folder, which its owner writes. */
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { IssuersFault, parseIssuers } from "../../shared/oidc-issuers.ts";
import { adviceFor, messageOf, Problem } from "../problem.ts";
import { readIfThere } from "./data-folder.ts";

/** `OIDC_ISSUERS` for the relay; undefined: there is no such file. Throws Problem. */
export function openIssuers(folder: string): string | undefined {
  const file = join(folder, "oidc.json");
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  closeToOthers(file);
  try {
    parseIssuers(text);
    return text;
  } catch (fault) {
    if (!(fault instanceof IssuersFault)) throw fault;
    throw new Problem(
      `The issuers in ${file} can't be used (${fault.message}). Correct the file, or move it away, and start again. ` +
        "docs/guides/sign-in.md shows one.",
    );
  }
}

/** It holds the secrets of clients, and was written with an editor. */
function closeToOthers(file: string): void {
  try {
    chmodSync(file, 0o600);
  } catch (error) {
    throw new Problem(`${file} can't be closed to other users (${messageOf(error)}): ${adviceFor(error)}.`);
  }
}
