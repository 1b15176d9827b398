/** Who is signed in here, and the connection of their screens. */
import { useEffect } from "react";
import { forgetLastKnown, lastKnown, remember } from "../base/last-known.ts";
import { claimTab, forgetTab, onForget } from "../base/tab-store.ts";
import { type AccountView, signedInAccount, signOut } from "../relay/account.ts";
import { connect } from "../relay/connection.ts";
import { clearLive, readApprovals, takeFrame } from "../relay/live.ts";
import { createReading } from "../relay/reading.ts";
import { onOtherSession } from "../relay/session.ts";
import { fits } from "../relay/shapes.ts";
import { withdrawQuestion } from "../ui/confirm.ts";
import { dismissAll, say } from "../ui/notices.ts";
import { followDevices, forgetDevices, refreshDevices, refreshOldDevices } from "./devices.ts";

const account = createReading<AccountView | null>(readAccount, rememberedAccount());

function rememberedAccount() {
  return lastKnown("account", (kept) => fits("GET /v1/account", kept));
}

/** Who was signed in here last, until it has been found that they no longer are. */
export function accountHereLast(): string | undefined {
  return rememberedAccount()?.value.account;
}

/** null: nobody is signed in. Without a network, who was signed in last. */
export const useAccount = account.use;

let tellSignedIn: () => void = () => undefined;
/** Resolves as soon as somebody is signed in here. */
export const whenSignedIn: Promise<void> = new Promise((resolve) => {
  tellSignedIn = resolve;
});
if (account.now().data) tellSignedIn();
account.onChange(({ data }) => {
  if (data) tellSignedIn();
});

async function readAccount(): Promise<AccountView | null> {
  const found = await signedInAccount();
  const before = account.now().data;
  if (before && before.account !== found?.account) leaveAccount();
  if (before && !found) tellSignedOut();
  if (found) {
    remember("account", found);
    claimTab(found.account);
  }
  return found;
}

/** Reads anew who is signed in. Throws ApiError: then it is not known, and what is shown may be another's. */
export async function refreshAccount(): Promise<void> {
  await account.now().refetch();
  const { error } = account.now();
  if (error) throw error;
}

/** A session has begun here. Whose it is, is read once nothing that an earlier one had open is left. */
export async function takeSession(leavePages: () => Promise<void>): Promise<void> {
  tellSignedIn();
  await leavePages();
  await refreshAccount();
}

/** Nothing of an account stays on the screen. What a page had read waits in this tab, for the same person to sign in again. */
export function leaveAccount(): void {
  clearLive();
  withdrawQuestion();
  dismissAll();
  forgetLastKnown();
}

onForget(forgetDevices);

/** This tab itself signs out. */
let isLeaving = false;

/** Signs out in this browser. Throws ApiError. */
export async function endSession(): Promise<void> {
  isLeaving = true;
  try {
    await signOut();
    forgetSession();
  } finally {
    isLeaving = false;
  }
}

function forgetSession(): void {
  account.put(null);
  leaveAccount();
  forgetTab();
}

function tellSignedOut(): void {
  if (!isLeaving) say("You were signed out here: the session was ended elsewhere, or has expired.");
}

/** Keeps up with the account's machines while it is signed in. */
export function useAccountConnection(id: string | undefined): void {
  useEffect(() => {
    if (id === undefined) return;
    const unfollow = followDevices();
    let wasOpen = false;
    const disconnect = connect({
      onOpen: () => {
        void (wasOpen ? refreshDevices() : refreshOldDevices());
        wasOpen = true;
        void readApprovals().catch(() => undefined);
      },
      onFrame: takeFrame,
      onSignedOut: () => {
        account.put(null);
        leaveAccount();
        tellSignedOut();
      },
    });
    return () => {
      unfollow();
      disconnect();
      // Until now, it told of what this account may see.
      clearLive();
    };
  }, [id]);
}

onOtherSession((isSignedOut) => {
  if (!isSignedOut) return void refreshAccount().catch(() => undefined);
  forgetSession();
  say("You signed out in another tab.");
});
