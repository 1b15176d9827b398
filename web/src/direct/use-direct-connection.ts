/** Connects to this computer by itself, where the person wants that, for as long as they are signed in. */
import { useEffect } from "react";
import { connectsItself, keptDirect } from "./kept.ts";
import { beginDirect, endDirect, useDirect } from "./local.ts";

export function useDirectConnection(account: string | undefined): void {
  useEffect(() => {
    if (account === undefined) return;
    void connectAgain();
    return endDirect;
  }, [account]);
}

async function connectAgain(): Promise<void> {
  const kept = keptDirect();
  if (!connectsItself(kept)) return;
  const { address, token = "" } = kept;
  beginDirect(address);
  const { connect } = await import("./connection.ts");
  // Somebody may have signed out while it was loaded.
  if (useDirect.getState().state !== "off") await connect({ address, token });
}
