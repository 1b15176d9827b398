/** The news that a newer release of the app is there. */
import { create } from "zustand";
import { store, stored } from "../base/storage.ts";
import { useConnection } from "../relay/connection.ts";

interface Release {
  /** A newer release than this tab's is there: it waits for a word, or another tab has given it. */
  readonly isReady: boolean;
}

export const useRelease = create<Release>(() => ({ isReady: false }));

const RELOADED = "matrx-reloaded";

let waiting: ServiceWorker | undefined;

/** `worker`: waits for a word. */
export function noteWorker(worker: ServiceWorker | undefined, isReady: boolean): void {
  waiting = worker;
  if (isReady) useRelease.setState({ isReady });
}

/** Loads the newer release here. In other tabs something may be running: they offer it, too. */
export function update(): void {
  if (!waiting) return void reloadOnceOnline();
  navigator.serviceWorker.addEventListener("controllerchange", reloadOnceOnline, { once: true });
  waiting.postMessage("update");
}

/** Without the relay, a page that is loaded anew has less to show than this one. */
function reloadOnceOnline(): void {
  if (useConnection.getState().state === "online") return location.reload();
  const end = useConnection.subscribe(({ state }) => {
    if (state !== "online") return;
    end();
    location.reload();
  });
}

/** A tab of an older release asks for a file that is gone: the page of the new one knows its own. Once, or it would never end. */
export function reloadOnMissingFile(): void {
  addEventListener("vite:preloadError", () => {
    if (stored("tab", RELOADED) === undefined) void reloadFromRelay();
  });
}

/** What does not come while the relay is away is not gone: the page stays. */
async function reloadFromRelay(): Promise<void> {
  const health = await fetch("/v1/health", { cache: "no-store", credentials: "omit" })
    .then((answer) => answer.json())
    .catch(() => undefined);
  if (health?.status === "ok" && store("tab", RELOADED, "yes")) location.reload();
}
