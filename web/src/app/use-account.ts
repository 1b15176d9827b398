/** Who is signed in here, and the connection of their screens. */
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { type AccountView, signedInAccount, signOut } from "../relay/account.ts";
import { connect } from "../relay/connection.ts";
import { clearLive, readApprovals, takeFrame } from "../relay/live.ts";
import { onOtherSession } from "../relay/session.ts";
import { fits } from "../relay/shapes.ts";
import { say } from "../ui/notices.ts";
import { forgetLastKnown, lastKnown, remember } from "./last-known.ts";
import { queryClient } from "./query.ts";
import { claimTab, forgetTab, onForget } from "./tab-store.ts";

export const ACCOUNT_KEY = ["account"];

/** null: nobody is signed in. Without a network, who was signed in last. */
export function useAccount() {
  const last = lastKnown("account", (kept) => fits("GET /v1/account", kept));
  return useQuery<AccountView | null>({
    queryKey: ACCOUNT_KEY,
    queryFn: readAccount,
    staleTime: 60_000,
    ...(last && { initialData: last.value, initialDataUpdatedAt: last.at }),
  });
}

async function readAccount(): Promise<AccountView | null> {
  const before = queryClient.getQueryData<AccountView | null>(ACCOUNT_KEY);
  const account = await signedInAccount();
  if (before && before.account !== account?.account) leaveAccount();
  if (account) {
    remember("account", account);
    claimTab(account.account);
  }
  return account;
}

/** Reads anew who is signed in. */
export function refreshAccount(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ACCOUNT_KEY });
}

/** Nothing of an account stays on the screen. What a page had read waits in this tab, for the same person to sign in again. */
export function leaveAccount(): void {
  clearLive();
  forgetLastKnown();
}

onForget(() => queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== ACCOUNT_KEY[0] }));

/** Signs out in this browser. Throws ApiError. */
export async function endSession(): Promise<void> {
  await signOut();
  forgetSession();
}

function forgetSession(): void {
  queryClient.setQueryData(ACCOUNT_KEY, null);
  leaveAccount();
  forgetTab();
}

/** Keeps up with the account's machines while it is signed in. */
export function useAccountConnection(account: string | undefined): void {
  useEffect(() => {
    if (account === undefined) return;
    return connect({
      onOpen: () => {
        void queryClient.invalidateQueries();
        void readApprovals().catch(() => undefined);
      },
      onFrame: takeFrame,
      onSignedOut: () => {
        say("You were signed out here: the session was ended elsewhere, or has expired.");
        queryClient.setQueryData(ACCOUNT_KEY, null);
        leaveAccount();
      },
    });
  }, [account]);
}

onOtherSession((isSignedOut) => {
  if (!isSignedOut) return void refreshAccount();
  forgetSession();
  say("You signed out in another tab.");
});
