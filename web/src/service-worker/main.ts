/** The app's service worker: it starts offline, tabs of an older release keep their files, and notifications are shown. */
import { answerFile, isFile } from "./files.ts";
import "./push.ts";
import { answer, isOurs, keepShell, removeOldShells } from "./shell.ts";

declare const self: ServiceWorkerGlobalScope;

self.addEventListener("install", (event) => event.waitUntil(keepShell()));

self.addEventListener("activate", (event) => event.waitUntil(removeOldShells()));

self.addEventListener("fetch", (event) => {
  if (isOurs(event.request)) event.respondWith(answer(event.request));
  else if (isFile(event.request)) event.respondWith(answerFile(event.request));
});

// A new release waits until no tab uses the old one any more, or until a person says so.
self.addEventListener("message", ({ data }) => {
  if (data === "update") void self.skipWaiting();
});
