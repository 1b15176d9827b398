/** Makes the folders for this program's files, and registers them so that every agent on this machine protects them. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { type Home, makeHome } from "../../config/app-dirs.ts";
import { noteHome } from "../../config/matrx-folders.ts";

/** Throws MatrxError when they cannot be made. */
export function prepareHome(home: Home): void {
  makeHome(home);
  try {
    noteHome(home);
  } catch (error) {
    if (!(error instanceof MatrxError)) throw error;
    console.error(
      `Could not tell other agents on this machine to protect ${home.config} from their tools: ${error.message}`,
    );
  }
}
