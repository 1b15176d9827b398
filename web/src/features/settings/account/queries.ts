/** What the relay tells of the ways to sign in, and of the places where this person is signed in. */
import { queryClient, useQuery } from "../../../app/query.ts";
import { api } from "../../../relay/api.ts";
import type { Answer } from "../../../relay/routes.ts";

export type Passkey = Answer<"GET /v1/passkeys">["passkeys"][number];

const PASSKEYS_KEY = ["passkeys"];
const CODES_KEY = ["recovery-codes"];

export function usePasskeys() {
  return useQuery({
    queryKey: PASSKEYS_KEY,
    queryFn: async () => (await api("GET /v1/passkeys")).passkeys,
  });
}

export function refreshPasskeys(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: PASSKEYS_KEY });
}

export function useRecoveryCodes() {
  return useQuery({ queryKey: CODES_KEY, queryFn: () => api("GET /v1/recovery-codes") });
}

export function refreshRecoveryCodes(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: CODES_KEY });
}
