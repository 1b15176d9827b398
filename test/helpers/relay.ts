/** A relay of a test's own: the real embedded one, on a free port, with its data in a temporary folder. */
import type * as z from "zod";
import { isFresh } from "../../scripts/fresh-build.ts";
import { type Credential, makeToken, request, signIn } from "../../scripts/start/owner.ts";
import { type Relay, type RelayOptions, startRelay as startEmbedded } from "../../scripts/start/relay.ts";
import { WORKER } from "../../scripts/worker-bundle.ts";
import type { NewToken } from "../../shared/token-api.ts";
import { makeFolder, removeFolder } from "./folder.ts";

export interface TestRelay extends Relay {
  /** Signs the owner in, as a browser that follows a sign-in link. */
  signIn(): Promise<Credential>;
  /** An API token of the owner's. */
  token(access?: "full" | "read"): Promise<string>;
  /** Calls the REST interface; the answer is checked against `schema`. */
  request<Schema extends z.ZodType>(
    credential: Credential | undefined,
    line: `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} /${string}`,
    schema: Schema,
    body?: unknown,
  ): Promise<z.infer<Schema>>;
}

/** Starts one; `stop` (or `await using`) ends it and removes its folder. */
export async function startRelay(options: Partial<RelayOptions> = {}): Promise<TestRelay & AsyncDisposable> {
  if (!isFresh(WORKER)) throw new Error("The relay could not be bundled: npm run build says why");
  const own = options.dataDir === undefined;
  const dataDir = options.dataDir ?? makeFolder();
  const relay = await startEmbedded({ port: 0, ...options, dataDir }).catch((error: unknown) => {
    if (own) removeFolder(dataDir);
    throw error;
  });
  const signInHere = () => signIn(relay);
  const stop = async () => {
    await relay.stop();
    if (own) removeFolder(dataDir);
  };
  return {
    ...relay,
    get pid() {
      return relay.pid;
    },
    stop,
    [Symbol.asyncDispose]: stop,
    signIn: signInHere,
    token: async (access = "full") =>
      makeToken(relay, await signInHere(), { name: "test", ...WISHES[access] }),
    request: (credential, line, schema, body) => request(relay, credential, line, schema, body),
  };
}

/** An own script token, or an AI grant that reads everything. */
const WISHES = {
  full: { credential: "script" },
  read: { effects: ["read"], paths: null, secrets: "open" },
} as const satisfies Record<string, Partial<NewToken>>;
