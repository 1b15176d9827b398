/** Somebody at a terminal, elsewhere than the device: a relay, a machine on it, and the command line with a token. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import type { Rig } from "../../e2e/rig.ts";
import { makeFolder, removeFolder } from "../../helpers/folder.ts";
import type { TestRelay } from "../../helpers/relay.ts";
import { type Ended, endOf, lineOf, runMatrx, startMatrx } from "./matrx.ts";

export interface Desk {
  readonly home: string;
  /** For commands that are started rather than run. */
  readonly env: Record<string, string>;
  matrx(args: readonly string[], stdin?: string | Uint8Array): Promise<Ended>;
  close(): void;
}

/** Calls with a token of the owner's. */
export function openDesk({ relay, token }: Rig): Desk {
  const home = makeFolder();
  const tokenFile = join(home, "token");
  writeFileSync(tokenFile, token, { mode: 0o600 });
  const env = { MATRX_RELAY: relay.url, MATRX_TOKEN_FILE: tokenFile };
  return {
    home,
    env,
    matrx: (args, stdin) => runMatrx(args, { home, env, ...(stdin !== undefined && { stdin }) }),
    close: () => removeFolder(home),
  };
}

/** Runs a command that shows a code, and confirms it as the owner. */
export async function confirmed(relay: TestRelay, home: string, args: readonly string[]): Promise<Ended> {
  const child = startMatrx([...args, "--relay", relay.url, "--json"], { home });
  const ended = endOf(child);
  const { code } = await lineOf(child, ({ status }) => status === "pending");
  await relay.request(await relay.signIn(), `POST /v1/pairings/${code}/confirm`, z.unknown(), {});
  return ended;
}
