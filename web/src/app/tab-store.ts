/**
 * What this tab keeps for the person who is signed in: through reloads, and through a session that expires, for nothing typed
 * should be lost. Whoever signs out, or is signed in next, finds nothing of it.
 */

const PREFIX = "matrx-tab:";
const OWNER = "account";

const forgetting = new Set<() => void>();

/** False: there is no room for it. */
export function keepInTab(name: string, value: unknown): boolean {
  try {
    sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** What was kept, by whichever release of the app: undefined where it cannot be read. */
export function keptInTab<T>(name: string): T | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + name) ?? "") as T;
  } catch {
    return undefined;
  }
}

/** The tab is this account's from now on. */
export function claimTab(account: string): void {
  const owner = keptInTab<string>(OWNER);
  if (owner === account) return;
  if (owner !== undefined) forgetTab();
  keepInTab(OWNER, account);
}

/** Calls back when the person signs out, or another one signs in. */
export function onForget(forget: () => void): void {
  forgetting.add(forget);
}

export function forgetTab(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
  for (const forget of forgetting) forget();
}
