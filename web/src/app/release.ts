/** The service worker, and the news that a newer release of the app is there. */
import { create } from "zustand";
import { useConnection } from "../relay/connection.ts";
import { store, stored } from "./storage.ts";

interface Release {
  /** A newer release than this tab's is there: it waits for a word, or another tab has given it. */
  readonly isReady: boolean;
}

export const useRelease = create<Release>(() => ({ isReady: false }));

/** How often a tab that stays open looks for a newer release, in milliseconds. */
const LOOK_EVERY = 3_600_000;
const RELOADED = "matrx-reloaded";

let waiting: ServiceWorker | undefined;

/** Registers it, where the browser has them. */
export async function startServiceWorker(): Promise<void> {
  if (!("serviceWorker" in navigator) || import.meta.env.DEV) return;
  const { serviceWorker } = navigator;
  // The very first one takes over a page that needs no news.
  let isNews = serviceWorker.controller !== null;
  serviceWorker.addEventListener("controllerchange", () => {
    waiting = undefined;
    if (isNews) useRelease.setState({ isReady: true });
    isNews = true;
  });
  const registration = await serviceWorker.register("/sw.js");
  const note = () => {
    waiting = registration.waiting ?? undefined;
    if (waiting) useRelease.setState({ isReady: true });
  };
  note();
  registration.addEventListener("updatefound", () => {
    registration.installing?.addEventListener("statechange", () => {
      if (serviceWorker.controller) note();
    });
  });
  setInterval(() => void registration.update().catch(() => undefined), LOOK_EVERY);
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
  const isThere = await fetch("/v1/health", { cache: "no-store", credentials: "omit" })
    .then(async (response) => response.ok && (await response.json()).status === "ok")
    .catch(() => false);
  if (isThere && store("tab", RELOADED, "yes")) location.reload();
}
