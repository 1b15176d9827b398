/** Who asks, and with what rights: read again when somebody unknown appears. */
import type { ApprovalView } from "@matrx/shared/approval.ts";
import type { TokenView } from "@matrx/shared/token-api.ts";
import { useEffect } from "react";
import { queryClient, useQuery } from "../../data/query.ts";
import { api } from "../../relay/api.ts";
import { visibleLine } from "../../ui/visible-text.ts";
import { useMachineName } from "./names.ts";

export const TOKENS_KEY = ["tokens"];

export interface Asker {
  readonly name: string;
  /** What it is, in words. */
  readonly kind: string;
  /** What it may do, in a sentence. */
  readonly rights: string | undefined;
  readonly machine: string;
  /** Only an AI's token has rules of its own that can be lifted. */
  readonly hasRules: boolean;
}

/** Grants that were looked for: one that is gone is not looked for again. */
const looked = new Set<string>();

/** Undefined: not read yet. Without an answer, ids stand in for names. */
export function useAsker({ device, grant, grant_name: name }: ApprovalView): Asker | undefined {
  const machineName = useMachineName();
  const { data, isPending } = useQuery({ queryKey: TOKENS_KEY, queryFn: () => api("GET /v1/tokens") });
  const token = data?.tokens.find(({ id }) => id === grant);
  const isUnknown = data !== undefined && !token;
  useEffect(() => {
    if (!isUnknown || looked.has(grant)) return;
    looked.add(grant);
    void queryClient.invalidateQueries({ queryKey: TOKENS_KEY });
  }, [isUnknown, grant]);
  if (isPending) return undefined;
  return {
    name: visibleLine(token?.name ?? name ?? grant),
    kind: token ? kindOf(token) : "no longer among your tokens",
    rights: token?.summary,
    machine: machineName(device),
    hasRules: token?.credential === "ai",
  };
}

const PLACES: Readonly<Record<string, string>> = { web: "browser", cli: "command line", api: "token" };

function kindOf({ kind, credential, client, shared_with: guest }: TokenView): string {
  if (client) return client.host ? `AI app of ${client.host}` : "AI app, not verified";
  if (credential === "guest") return guest ? `shared with ${guest}` : "share, not accepted yet";
  if (credential === "ai") return "AI token";
  if (credential === "script") return "own script: acts as you";
  return PLACES[kind] ?? kind;
}
