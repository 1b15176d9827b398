/** Files of machines that the browser itself fetches, to play or to save them: with the token of the page that asked for them. */

declare const self: ServiceWorkerGlobalScope;

/** So long may a page take to answer, in milliseconds. */
const PATIENCE = 5_000;

const FILE = /^\/v1\/devices\/[^/]+\/files\/./;
const PLAYED: readonly string[] = ["audio", "video"] satisfies RequestDestination[];

/** What scripts of a page fetch has its token already. */
export function isFile({ url, method, destination }: Request): boolean {
  const { origin, pathname, search } = new URL(url);
  if (origin !== self.location.origin || method !== "GET" || !FILE.test(pathname)) return false;
  // A tab shows none of them: it only saves what it is sent to.
  return PLAYED.includes(destination) || (destination === "document" && search === "");
}

export async function answerFile(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const given = await tokenFor(pathname + search);
  // Nobody here has asked for it: a link of another page gets what it would get without us.
  if (given === undefined) return fetch(request);
  const { page, token } = given;
  const range = request.headers.get("Range");
  const wish: RequestInit = {
    credentials: "omit",
    cache: "no-store",
    headers: { Authorization: `Bearer ${token}`, ...(range !== null && { Range: range }) },
  };
  if (request.destination !== "document") return fetch(request.url, wish);
  const response = await fetch(request.url, wish).catch(() => undefined);
  if (response?.ok) return response;
  // A page that goes where nothing can be saved would be gone. So it stays, and says why.
  page.postMessage({ type: "not saved", status: response?.status ?? 0, body: await response?.text() });
  return new Response(null, { status: 204 });
}

interface Given {
  readonly page: Client;
  readonly token: string;
}

async function tokenFor(address: string): Promise<Given | undefined> {
  const pages = await self.clients.matchAll({ type: "window" });
  const answers = pages.map(
    (page) =>
      new Promise<Given>((resolve, reject) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) =>
          typeof data === "string" ? resolve({ page, token: data }) : reject();
        setTimeout(reject, PATIENCE);
        page.postMessage({ type: "token for", address }, [port2]);
      }),
  );
  return Promise.any(answers).catch(() => undefined);
}
