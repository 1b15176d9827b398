/** The app's own files, kept in the browser: its page, and what that loads. */
import { isAppPath } from "@matrx/shared/pages.ts";

declare const self: ServiceWorkerGlobalScope;

/** Set by scripts/web-bundle.ts: the files of this release, and what names it. */
declare const PRECACHED: readonly string[];
declare const RELEASE: string;

const PAGE = "/";
const PREFIX = "shell-";
const CACHE = PREFIX + RELEASE;
/** A network that takes longer to answer is no network, in milliseconds. */
const PATIENCE = 3_000;

export async function keepShell(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll([PAGE, ...PRECACHED]);
}

export async function removeOldShells(): Promise<void> {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
}

/** All else is the network's business. */
export function isOurs(request: Request): boolean {
  const { origin, pathname } = new URL(request.url);
  if (origin !== self.location.origin || request.method !== "GET") return false;
  return isPage(request) || pathname.startsWith("/assets/") || PRECACHED.includes(pathname);
}

export function answer(request: Request): Promise<Response> {
  return isPage(request) ? page(request) : file(request);
}

function isPage({ mode, url }: Request): boolean {
  return mode === "navigate" && isAppPath(new URL(url).pathname);
}

/** The newest page that can be had: a relay that answers has the last word. */
async function page(request: Request): Promise<Response> {
  const kept = caches.match(PAGE, { cacheName: CACHE });
  try {
    const found = await fetch(request, { signal: AbortSignal.timeout(PATIENCE) });
    return found.ok ? found : ((await kept) ?? found);
  } catch (error) {
    const shell = await kept;
    if (shell) return shell;
    throw error;
  }
}

/** Names change with the content, so what is kept is right. */
async function file(request: Request): Promise<Response> {
  return (await caches.match(request, { cacheName: CACHE })) ?? fetch(request);
}
