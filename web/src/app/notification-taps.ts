/** A tap on a notification leads this page somewhere else in the app, without loading it anew. */
import { isAppPath } from "@matrx/shared/pages.ts";
import { router } from "./router.tsx";

navigator.serviceWorker?.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
  const path = pathOf(data);
  if (path !== undefined && isAppPath(path.replace(/\?.*/, ""))) router.history.push(path);
});

function pathOf(data: unknown): string | undefined {
  const isGo = typeof data === "object" && data !== null && "type" in data && data.type === "go";
  return isGo && "path" in data && typeof data.path === "string" ? data.path : undefined;
}
