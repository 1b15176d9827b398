/** Who is signed in here, and the connection of their screens. */
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { type AccountView, signedInAccount, signOut } from "../relay/account.ts";
import { connect } from "../relay/connection.ts";
import { clearLive, readApprovals, takeFrame } from "../relay/live.ts";
import { onOtherSession } from "../relay/session.ts";
import { withdrawQuestion } from "../ui/confirm.ts";
import { dismissAll, say } from "../ui/notices.ts";
import { forgetLastKnown, lastKnown, remember } from "./last-known.ts";
import { queryClient } from "./query.ts";
import { claimTab, forgetTab } from "./tab-store.ts";

export const ACCOUNT_KEY = ["account"];

/** null: nobody is signed in. Without a network, who was signed in last. */
export function useAccount() {
  const last = lastKnown<AccountView>("account");
  return useQuery<AccountView | null>({
    queryKey: ACCOUNT_KEY,
    queryFn: readAccount,
    staleTime: 60_000,
    ...(last && { initialData: last.value, initialDataUpdatedAt: last.at }),
  });
}

async function readAccount(): Promise<AccountView | null> {
  const account = await signedInAccount();
  const before = queryClient.getQueryData<AccountView | null>(ACCOUNT_KEY);
  if (before && before.account !== account?.account) leaveAccount();
  if (before && !account) tellSignedOut();
  if (account) {
    remember("account", account);
    claimTab(account.account);
  }
  return account;
}

/** Reads anew who is signed in. Throws ApiError: then it is not known, and what is shown may be another's. */
export function refreshAccount(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ACCOUNT_KEY }, { throwOnError: true });
}

/** Nothing of an account stays on the screen or in this browser, whoever is signed in next. */
export function leaveAccount(): void {
  clearLive();
  withdrawQuestion();
  dismissAll();
  forgetLastKnown();
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== ACCOUNT_KEY[0] });
}

/** This tab itself signs out. */
let isLeaving = false;

/** Signs out in this browser. Throws ApiError. */
export async function endSession(): Promise<void> {
  isLeaving = true;
  try {
    await signOut();
    queryClient.setQueryData(ACCOUNT_KEY, null);
    leaveAccount();
    forgetTab();
  } finally {
    isLeaving = false;
  }
}

function tellSignedOut(): void {
  if (!isLeaving) say("You were signed out here: the session was ended elsewhere, or has expired.");
}

/** Keeps up with the account's machines while it is signed in. */
export function useAccountConnection(account: string | undefined): void {
  useEffect(() => {
    if (account === undefined) return;
    const disconnect = connect({
      onOpen: () => {
        void queryClient.invalidateQueries();
        void readApprovals().catch(() => undefined);
      },
      onFrame: takeFrame,
      onSignedOut: () => {
        queryClient.setQueryData(ACCOUNT_KEY, null);
        leaveAccount();
        tellSignedOut();
      },
    });
    return () => {
      disconnect();
      // Until now, it told of what this account may see.
      clearLive();
    };
  }, [account]);
}

onOtherSession(() => void refreshAccount().catch(() => undefined));
