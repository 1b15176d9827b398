/** What the relay tells of the ways to sign in, and of the places where this person is signed in. */
import { queryClient, useQuery } from "../../../data/query.ts";
import { api } from "../../../relay/api.ts";
import type { Answer } from "../../../relay/routes.ts";

export type Passkey = Answer<"GET /v1/passkeys">["passkeys"][number];

const PASSKEYS = {
  queryKey: ["passkeys"],
  queryFn: async () => (await api("GET /v1/passkeys")).passkeys,
};
const CODES = { queryKey: ["recovery-codes"], queryFn: () => api("GET /v1/recovery-codes") };

export function usePasskeys() {
  return useQuery(PASSKEYS);
}

/** For what must know them before it goes on. Throws ApiError. */
export function knownPasskeys(): Promise<Passkey[]> {
  return queryClient.fetchQuery(PASSKEYS);
}

export function refreshPasskeys(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: PASSKEYS.queryKey });
}

export function useRecoveryCodes() {
  return useQuery(CODES);
}

/** For what must know them before it goes on. Throws ApiError. */
export function knownRecoveryCodes(): Promise<Answer<"GET /v1/recovery-codes">> {
  return queryClient.fetchQuery(CODES);
}

export function refreshRecoveryCodes(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: CODES.queryKey });
}
