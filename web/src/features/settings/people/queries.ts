/** What is shared, and who is on this relay. */
import { queryClient, useQuery } from "../../../data/query.ts";
import { api } from "../../../relay/api.ts";
import type { Answer } from "../../../relay/routes.ts";

export type GivenShare = Answer<"GET /v1/shares">["given"][number];
export type ReceivedShare = Answer<"GET /v1/shares">["received"][number];
export type Invite = Answer<"GET /v1/invites">["invites"][number];

const SHARES_KEY = ["shares"];
const INVITES_KEY = ["invites"];

export function useShares() {
  return useQuery({ queryKey: SHARES_KEY, queryFn: () => api("GET /v1/shares") });
}

export function refreshShares(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: SHARES_KEY });
}

export function useInvites() {
  return useQuery({
    queryKey: INVITES_KEY,
    queryFn: async () => (await api("GET /v1/invites")).invites,
  });
}

export function refreshInvites(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: INVITES_KEY });
}
