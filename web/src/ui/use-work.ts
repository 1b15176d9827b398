/** Work that a person waits for: whether it runs, and what is done when it fails. */
import { useState } from "react";

export function useWork(failed: (error: unknown) => void) {
  const [isBusy, setBusy] = useState(false);
  const run = async (work: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await work();
    } catch (error) {
      failed(error);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, run };
}
