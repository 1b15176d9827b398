/** The account's tokens: also its sessions and shares, which are grants like them. */
import { queryClient, useQuery } from "../../../data/query.ts";
import { api } from "../../../relay/api.ts";
import type { Answer } from "../../../relay/routes.ts";

export type Token = Answer<"GET /v1/tokens">["tokens"][number];

const TOKENS_KEY = ["tokens"];

// Other pages read the same: what is kept is the answer as it came.
const TOKENS = { queryKey: TOKENS_KEY, queryFn: () => api("GET /v1/tokens") };

export function useTokens() {
  return useQuery({ ...TOKENS, select: ({ tokens }) => tokens });
}

/** One of them as it is at this moment; undefined: it is none of the account's any more. */
export async function readToken(id: string): Promise<Token | undefined> {
  const { tokens } = await queryClient.fetchQuery({ ...TOKENS, staleTime: 0 });
  return tokens.find((token) => token.id === id);
}

/** One of them, with the machines that keep a copy of it. */
export function useTokenDetails(id: string) {
  return useQuery({
    queryKey: [...TOKENS_KEY, id],
    queryFn: () => api("GET /v1/tokens/{grant}", { path: { grant: id } }),
  });
}

export function refreshTokens(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: TOKENS_KEY });
}

/** A person's own browser or command line. */
export function isSession({ kind }: Token): boolean {
  return kind === "web" || kind === "cli";
}

/** Something that another person holds, or whoever has its link. */
export function isShare({ kind, credential }: Token): boolean {
  return kind === "share" || credential === "guest";
}
