/** Starts the service worker, and looks for newer releases: a chunk of its own, since nothing waits for it. */
import { noteWorker } from "../shell/release.ts";

/** How often a tab that stays open looks for a newer release, in milliseconds. */
const LOOK_EVERY = 3_600_000;

/** Registers it, where the browser has them. */
export async function startServiceWorker(): Promise<void> {
  if (!("serviceWorker" in navigator) || import.meta.env.DEV) return;
  const { serviceWorker } = navigator;
  // The very first one takes over a page that needs no news.
  let isNews = serviceWorker.controller !== null;
  serviceWorker.addEventListener("controllerchange", () => {
    noteWorker(undefined, isNews);
    isNews = true;
  });
  const registration = await serviceWorker.register("/sw.js");
  const note = () => {
    const waiting = registration.waiting ?? undefined;
    noteWorker(waiting, waiting !== undefined);
  };
  note();
  registration.addEventListener("updatefound", () => {
    registration.installing?.addEventListener("statechange", () => {
      if (serviceWorker.controller) note();
    });
  });
  setInterval(() => void registration.update().catch(() => undefined), LOOK_EVERY);
}
