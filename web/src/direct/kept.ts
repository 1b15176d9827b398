/** What this browser keeps of the direct connection. It goes with the account's other data when somebody signs out. */
import { lastKnown, remember } from "../base/last-known.ts";

export interface KeptDirect {
  readonly address: string;
  /** The server asks for one. */
  readonly needsToken: boolean;
  /** Only if the person said so. */
  readonly token?: string;
  /** Connect when the app is loaded ... */
  readonly isAutomatic: boolean;
  /** ... unless the person disconnected. */
  readonly isWanted: boolean;
}

const NAME = "direct";

export function keptDirect(): KeptDirect | undefined {
  return lastKnown(NAME, isKept)?.value;
}

function isKept(value: unknown): value is KeptDirect {
  if (typeof value !== "object" || value === null) return false;
  const { address, needsToken, token, isAutomatic, isWanted }: Partial<Record<keyof KeptDirect, unknown>> =
    value;
  return (
    typeof address === "string" &&
    (token === undefined || typeof token === "string") &&
    [needsToken, isAutomatic, isWanted].every((flag) => typeof flag === "boolean")
  );
}

/** It connects by itself when the app is loaded. */
export function connectsItself(kept: KeptDirect | undefined): kept is KeptDirect {
  if (!kept?.isAutomatic || !kept.isWanted) return false;
  return !kept.needsToken || kept.token !== undefined;
}

export function keepDirect(kept: KeptDirect): void {
  remember(NAME, kept);
}
