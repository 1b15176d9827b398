/**
 * What this tab keeps for the person who is signed in: through reloads, and through a session that expires, for nothing typed
 * should be lost. Whoever signs out, or is signed in next, finds nothing of it.
 */

import { create } from "zustand";
import { store, storedJson, unstore, unstoreAll } from "./storage.ts";

const PREFIX = "matrx-tab:";
const OWNER = "account";

/** How often what the tab kept was forgotten: what is on the screen goes with it. */
export const useTab = create<{ readonly forgotten: number }>(() => ({ forgotten: 0 }));

/** Whose it is, where the browser keeps nothing. */
let owner: string | undefined;

const forgetting = new Set<() => void>();

/** False: there is no room for it. */
export function keepInTab(name: string, value: unknown): boolean {
  return store("tab", PREFIX + name, JSON.stringify(value));
}

/** What was kept, by whichever release of the app; undefined: nothing, or what `isRight` does not know. */
export function keptInTab<T>(name: string, isRight: (value: unknown) => value is T): T | undefined {
  const kept = storedJson("tab", PREFIX + name);
  return isRight(kept) ? kept : undefined;
}

/** It is no longer needed. */
export function dropInTab(name: string): void {
  unstore("tab", PREFIX + name);
}

/** The tab is this account's from now on. */
export function claimTab(account: string): void {
  const before = owner ?? keptInTab(OWNER, (value) => typeof value === "string");
  if (before !== undefined && before !== account) forgetTab();
  owner = account;
  keepInTab(OWNER, account);
}

/** Calls back when the person signs out, or another one signs in. */
export function onForget(forget: () => void): void {
  forgetting.add(forget);
}

export function forgetTab(): void {
  owner = undefined;
  unstoreAll("tab", PREFIX);
  for (const forget of forgetting) forget();
  useTab.setState(({ forgotten }) => ({ forgotten: forgotten + 1 }));
}
