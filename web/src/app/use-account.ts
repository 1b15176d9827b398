/** Who is signed in here, and the connection of their screens. */
import { useEffect } from "react";
import { type AccountView, signedInAccount, signOut } from "../relay/account.ts";
import { connect } from "../relay/connection.ts";
import { followDevices, forgetDevices, refreshDevices } from "../relay/devices.ts";
import { clearLive, readApprovals, takeFrame } from "../relay/live.ts";
import { createReading } from "../relay/reading.ts";
import { onOtherSession } from "../relay/session.ts";
import { say } from "../ui/notices.ts";
import { forgetLastKnown, lastKnown, remember } from "./last-known.ts";
import { claimTab, forgetTab } from "./tab-store.ts";

const account = createReading<AccountView | null>(readAccount, lastKnown<AccountView>("account"));
const forgetters: (() => void)[] = [];

/** null: nobody is signed in. Without a network, who was signed in last. */
export const useAccount = account.use;

async function readAccount(): Promise<AccountView | null> {
  const before = account.now().data;
  const found = await signedInAccount();
  if (before && before.account !== found?.account) leaveAccount();
  if (found) {
    remember("account", found);
    claimTab(found.account);
  }
  return found;
}

/** Reads anew who is signed in. */
export function refreshAccount(): Promise<void> {
  return account.now().refetch();
}

/** Calls back when an account is left, so that nothing of it is shown to whoever is signed in next. */
export function onLeave(forget: () => void): void {
  forgetters.push(forget);
}

/** Nothing of an account stays on the screen or in this browser, whoever is signed in next. */
export function leaveAccount(): void {
  clearLive();
  forgetLastKnown();
  forgetDevices();
  for (const forget of forgetters) forget();
}

/** Signs out in this browser. Throws ApiError. */
export async function endSession(): Promise<void> {
  await signOut();
  account.put(null);
  leaveAccount();
  forgetTab();
}

/** Keeps up with the account's machines while it is signed in. */
export function useAccountConnection(id: string | undefined): void {
  useEffect(() => {
    if (id === undefined) return;
    const unfollow = followDevices();
    const disconnect = connect({
      onOpen: () => {
        void refreshDevices();
        void readApprovals().catch(() => undefined);
      },
      onFrame: takeFrame,
      onSignedOut: () => {
        say("You were signed out here: the session was ended elsewhere, or has expired.");
        account.put(null);
        leaveAccount();
      },
    });
    return () => {
      unfollow();
      disconnect();
    };
  }, [id]);
}

onOtherSession(() => void refreshAccount());
