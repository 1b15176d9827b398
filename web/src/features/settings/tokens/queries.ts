/** The account's tokens: sessions, AI grants, scripts and shares. */
import { useQuery } from "@tanstack/react-query";
import { queryClient } from "../../../app/query.ts";
import { api } from "../../../relay/api.ts";
import type { Answer } from "../../../relay/routes.ts";

export type Token = Answer<"GET /v1/tokens">["tokens"][number];

const KEY = ["tokens", "list"];

export function useTokens() {
  return useQuery({ queryKey: KEY, queryFn: async () => (await api("GET /v1/tokens")).tokens });
}

export function refreshTokens(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ["tokens"] });
}

/** A browser or a command line in which a person signed in. */
export function isSession({ kind, credential }: Token): boolean {
  return credential === "person" || (credential === undefined && (kind === "web" || kind === "cli"));
}
