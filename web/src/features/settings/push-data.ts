/** The account's notifications, and what of them this browser does. */
import { queryClient, useQuery } from "../../data/query.ts";
import { api } from "../../relay/api.ts";
import { type PushKind, type PushOverview, type PushState, readPushState } from "../../relay/push.ts";

export interface Push {
  readonly overview: PushOverview;
  readonly state: PushState;
}

const KEY = ["push"];

/** What each kind tells, as people are asked. */
export const KINDS: readonly { readonly kind: PushKind; readonly label: string; readonly about: string }[] = [
  { kind: "approvals", label: "Approvals", about: "A call waits until you allow or deny it" },
  { kind: "alerts", label: "Alerts", about: "A machine warns, such as of a disk that is almost full" },
  { kind: "finished", label: "Long calls", about: "A call that took a minute or longer has ended" },
];

export function usePush() {
  return useQuery<Push>({ queryKey: KEY, queryFn: readPush });
}

export function refreshPush(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: KEY });
}

async function readPush(): Promise<Push> {
  const overview = await api("GET /v1/push");
  return { overview, state: await readPushState(overview) };
}
