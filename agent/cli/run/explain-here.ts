/** Explains what this machine's own policy makes of a call by its owner, paths included. */

import { effectOf } from "@matrx/shared/effects.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { CLOSED_POLICY, type Policy } from "@matrx/shared/policy.ts";
import { type Explanation, explain } from "@matrx/shared/policy-explain.ts";
import type { Home } from "../../config/app-dirs.ts";
import { MatrxFolders } from "../../config/matrx-folders.ts";
import { PolicyFile } from "../../config/policy-file.ts";
import { Admission, type Intent, type PathNeed } from "../../core/gate.ts";
import { Files } from "../../fs/access.ts";
import { LOCAL_OWNER } from "../../local/local-calls.ts";

type Input = Readonly<Record<string, unknown>>;

/** Relative paths are taken from the working directory. */
export async function explainHere(home: Home, tool: string, input: Input): Promise<Explanation> {
  const policy = currentPolicy(home);
  const isReadable = !(policy instanceof MatrxError);
  const question = { tool, grant: LOCAL_OWNER, policy: isReadable ? policy : CLOSED_POLICY };
  const explanation = { ...explain({ ...question, confinesCommands: true }, input), notes: [NOTE] };
  const refusal = isReadable ? await pathRefusal(home, policy, tool, input) : policy;
  if (!refusal || (isReadable && explanation.decision === "refused")) return explanation;
  return { ...explanation, decision: "refused", reason: refusal.message };
}

const NOTE =
  "This is for you, the owner; a token has limits of its own, and the relay a policy: name the device to see them";

function currentPolicy(home: Home): Policy | MatrxError {
  try {
    return new PolicyFile(home).current();
  } catch (error) {
    if (error instanceof MatrxError) return error;
    throw error;
  }
}

async function pathRefusal(
  home: Home,
  policy: Policy,
  tool: string,
  input: Input,
): Promise<MatrxError | undefined> {
  const folders = new MatrxFolders(home);
  const files = new Files({ protectedPaths: () => folders.current() });
  const admission = new Admission({ grant: LOCAL_OWNER }, policy, (paths, caller) =>
    files.check(paths, caller),
  );
  try {
    await admission.check({ paths: pathsIn(tool, input) }, { cwd: process.cwd() });
    return undefined;
  } catch (error) {
    if (error instanceof MatrxError) return error;
    throw error;
  }
}

/** The fields that name paths in the tools' inputs. */
function pathsIn(tool: string, input: Input): PathNeed[] {
  const intents = {
    file_path: intentOf(tool),
    path: intentOf(tool),
    source: "remove",
    destination: "write",
  } as const;
  return Object.entries(intents).flatMap(([field, intent]) => {
    const path = input[field];
    return typeof path === "string" ? [{ path, intent }] : [];
  });
}

function intentOf(tool: string): Intent {
  if (tool === "Delete" || tool === "delete_directory") return "remove";
  if (tool === "create_directory") return "folder";
  return effectOf(tool) === "write" ? "write" : "read";
}
