/** The service worker, and the news that a newer release of the app is there. */
import { create } from "zustand";
import { store, stored } from "./storage.ts";

interface Release {
  /** Installed, and waiting for the tabs of this release to close. */
  readonly waiting: ServiceWorker | undefined;
}

export const useRelease = create<Release>(() => ({ waiting: undefined }));

/** How often a tab that stays open looks for a newer release, in milliseconds. */
const LOOK_EVERY = 3_600_000;
const RELOADED = "matrx-reloaded";

/** Registers it, where the browser has them. */
export async function startServiceWorker(): Promise<void> {
  if (!("serviceWorker" in navigator) || import.meta.env.DEV) return;
  const registration = await navigator.serviceWorker.register("/sw.js");
  const note = () => useRelease.setState({ waiting: registration.waiting ?? undefined });
  note();
  registration.addEventListener("updatefound", () => {
    registration.installing?.addEventListener("statechange", () => {
      // The very first one takes over a page that needs no news.
      if (navigator.serviceWorker.controller) note();
    });
  });
  setInterval(() => void registration.update().catch(() => undefined), LOOK_EVERY);
}

/** Loads the newer release, in every tab. */
export function update(): void {
  navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
  useRelease.getState().waiting?.postMessage("update");
}

/** A tab of an older release asks for a file that is gone: the page of the new one knows its own. Once, or it would never end. */
export function reloadOnMissingFile(): void {
  addEventListener("vite:preloadError", (event) => {
    if (stored("tab", RELOADED) !== undefined || !store("tab", RELOADED, "yes")) return;
    event.preventDefault();
    location.reload();
  });
}
