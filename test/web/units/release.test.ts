/** A newer release of the app, in each tab that is open. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type * as connection from "../../../web/src/relay/connection.ts";

class Worker extends EventTarget {
  readonly got: unknown[] = [];
  postMessage(message: unknown): void {
    this.got.push(message);
  }
}

/** A tab of the browser: its modules are its own. */
async function openTab(given: { isControlled: boolean; waiting?: Worker }) {
  vi.resetModules();
  const page = new EventTarget();
  const serviceWorker = Object.assign(new EventTarget(), {
    controller: given.isControlled ? new Worker() : null,
    register: async () => registration,
  });
  const registration = Object.assign(new EventTarget(), {
    waiting: given.waiting,
    installing: undefined,
    update: async () => undefined,
  });
  const reload = vi.fn();
  vi.stubGlobal("navigator", { serviceWorker, platform: "Linux", onLine: true });
  vi.stubGlobal("BroadcastChannel", EventTarget);
  vi.stubGlobal("location", { origin: "https://relay.test", reload });
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  const { useConnection }: typeof connection = await import("../../../web/src/relay/connection.ts");
  const release = await import("../../../web/src/shell/release.ts");
  const { startServiceWorker } = await import("../../../web/src/app/service-worker.ts");
  await startServiceWorker();
  return {
    ...{ page, reload, release },
    be: (state: connection.ConnectionState) => useConnection.setState({ state }),
    isReady: () => release.useRelease.getState().isReady,
    replaced: () => serviceWorker.dispatchEvent(new Event("controllerchange")),
  };
}

const kept = new Map<string, string>();

beforeEach(() => {
  kept.clear();
  vi.stubEnv("DEV", false);
  vi.useFakeTimers();
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => kept.set(key, text),
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

test("is loaded by the tab where the person says so", async () => {
  const waiting = new Worker();
  const tab = await openTab({ isControlled: true, waiting });
  tab.be("online");
  expect(tab.isReady()).toBe(true);
  tab.release.update();
  expect(waiting.got).toEqual(["update"]);
  expect(tab.reload).not.toHaveBeenCalled();
  tab.replaced();
  expect(tab.reload).toHaveBeenCalledOnce();
});

test("is offered by the other tabs too, and loaded there when they are told so", async () => {
  const tab = await openTab({ isControlled: true });
  tab.be("online");
  expect(tab.isReady()).toBe(false);
  // Another tab has let it begin.
  tab.replaced();
  expect(tab.isReady()).toBe(true);
  expect(tab.reload).not.toHaveBeenCalled();
  tab.release.update();
  expect(tab.reload).toHaveBeenCalledOnce();
});

test("is offered by a tab that knew it waiting when another tab let it begin", async () => {
  const waiting = new Worker();
  const tab = await openTab({ isControlled: true, waiting });
  tab.be("online");
  tab.replaced();
  expect(tab.isReady()).toBe(true);
  tab.release.update();
  expect(waiting.got).toEqual([]);
  expect(tab.reload).toHaveBeenCalledOnce();
});

test("is no news to a page whose first worker takes it over; a second one is", async () => {
  const tab = await openTab({ isControlled: false });
  tab.replaced();
  expect(tab.isReady()).toBe(false);
  tab.replaced();
  expect(tab.isReady()).toBe(true);
});

test("waits for the relay if that goes away meanwhile", async () => {
  const tab = await openTab({ isControlled: true, waiting: new Worker() });
  tab.be("online");
  tab.release.update();
  tab.be("reconnecting");
  tab.replaced();
  expect(tab.reload).not.toHaveBeenCalled();
  tab.be("online");
  tab.be("reconnecting");
  tab.be("online");
  expect(tab.reload).toHaveBeenCalledOnce();
});

test("a page whose file is gone is loaded again, once; one whose relay is away stays as it is", async () => {
  const tab = await openTab({ isControlled: true });
  tab.release.reloadOnMissingFile();
  const answers: (() => Promise<Response>)[] = [
    () => Promise.reject(new TypeError("Failed to fetch")),
    async () => new Response("<h1>Hotel: sign in</h1>"),
    async () => new Response("no relay", { status: 502 }),
    async () => Response.json({ status: "ok" }),
  ];
  const reloads: number[] = [];
  for (const answer of answers) {
    const asked = vi.fn(answer);
    vi.stubGlobal("fetch", asked);
    tab.page.dispatchEvent(new Event("vite:preloadError"));
    await vi.waitFor(() => expect(asked).toHaveBeenCalledOnce());
    await vi.advanceTimersByTimeAsync(0);
    reloads.push(tab.reload.mock.calls.length);
  }
  expect(reloads).toEqual([0, 0, 0, 1]);
  const asked = vi.fn();
  vi.stubGlobal("fetch", asked);
  tab.page.dispatchEvent(new Event("vite:preloadError"));
  expect(asked).not.toHaveBeenCalled();
});
