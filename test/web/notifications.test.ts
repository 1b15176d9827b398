/**
 * Notifications on the settings page, and what the service worker shows and answers. Chromium has no push service here, so
 * subscribing is a stub, and what a push service would deliver comes by Chromium's own tools. All else is real: the relay,
 * the agent, the permission, the service worker, its session.
 */
import type { CDPSession, Page, Worker } from "playwright-core";
import { afterEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { callListSchema } from "../../shared/api.ts";
import { approvalListSchema } from "../../shared/approval.ts";
import type { PushMessage } from "../../shared/push-message.ts";
import { createdTokenSchema } from "../../shared/token-api.ts";
import { NEEDS_FULL_CHROMIUM, startFullBrowser } from "../helpers/browser.ts";
import { expectNoObjections, type OpenOptions, startApp } from "./app.ts";

const PATH = "/settings/notifications";
const LOCALHOST = "http://localhost";

/** A subscription such as a push service's, which lasts as long as the browser. */
const SUBSCRIBES = `
  const stored = () => JSON.parse(localStorage.getItem("stub-subscription") ?? "null");
  const made = (of) => of && {
    endpoint: of.endpoint,
    options: { userVisibleOnly: true, applicationServerKey: Uint8Array.from(of.key).buffer },
    toJSON: () => ({ endpoint: of.endpoint, keys: { p256dh: of.p256dh, auth: of.auth } }),
    unsubscribe: async () => (localStorage.removeItem("stub-subscription"), true),
  };
  const text = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  PushManager.prototype.getSubscription = async () => made(stored());
  PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
    if (!userVisibleOnly) throw new DOMException("", "NotAllowedError");
    const before = stored();
    const key = Array.from(atob(applicationServerKey.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
    if (before && String(before.key) !== String(key)) throw new DOMException("", "InvalidStateError");
    const pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
    const p256dh = text(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
    const auth = text(crypto.getRandomValues(new Uint8Array(16)));
    const of = { endpoint: "https://push.invalid/" + crypto.randomUUID(), key, p256dh, auth };
    localStorage.setItem("stub-subscription", JSON.stringify(of));
    return made(of);
  };
`;

const ALLOWED: OpenOptions = {
  context: { serviceWorkers: "allow", permissions: ["notifications"] },
  before: SUBSCRIBES,
};

describe("notifications", NEEDS_FULL_CHROMIUM, () => {
  const app = startApp({ browser: startFullBrowser });

  afterEach(async () => {
    // Each test is the only one whose browsers are notified.
    const token = await app.relay.signIn();
    await app.relay.request(token, "POST /v1/calls/cancel", z.unknown(), {});
    await app.relay.request(token, "PATCH /v1/push", z.unknown(), { quiet_hours: null });
    await app.relay.request(token, "POST /v1/sessions/revoke-others", z.unknown(), {});
  });

  const toggle = (page: Page) => page.getByRole("switch", { name: "Notify me in this browser" });
  const here = (page: Page) => page.getByRole("region", { name: "This browser" });
  const others = (page: Page) => page.getByRole("region", { name: "Other browsers" });

  async function turnOn(page: Page): Promise<void> {
    await toggle(page).click();
    await page.getByText("This browser is notified from now on.").waitFor();
  }

  test("are turned on by a switch, told what of, tried, and turned off again", async () => {
    const { page, faults } = await app.openAlone(PATH, ALLOWED);
    await expect.poll(() => toggle(page).isChecked()).toBe(false);
    await turnOn(page);
    await expect.poll(() => toggle(page).isChecked()).toBe(true);
    await here(page).getByText("Nothing was sent yet").waitFor();
    for (const name of ["Approvals", "Alerts", "Long calls"])
      await expect.poll(() => page.getByRole("checkbox", { name }).isChecked()).toBe(true);
    await page.getByRole("checkbox", { name: "Long calls" }).click();
    await expect.poll(() => page.getByRole("checkbox", { name: "Long calls" }).isChecked()).toBe(false);

    await page.reload();
    await expect.poll(() => toggle(page).isChecked()).toBe(true);
    await expect.poll(() => page.getByRole("checkbox", { name: "Long calls" }).isChecked()).toBe(false);
    await expect.poll(() => page.getByRole("checkbox", { name: "Alerts" }).isChecked()).toBe(true);

    // Nobody is at the address of this push service.
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText("Its push service can't be reached.").waitFor();
    await here(page).getByText("Its push service can't be reached", { exact: true }).waitFor();

    await toggle(page).click();
    await page.getByText("This browser is no longer notified.").waitFor();
    await expect.poll(() => toggle(page).isChecked()).toBe(false);
    expect(await page.evaluate("localStorage.getItem('stub-subscription')")).toBeNull();
    expect(faults).toEqual([]);
  });

  test("of another account before are given up, since the browser insists on the key of those", async () => {
    const { page } = await app.openAlone(PATH, ALLOWED);
    const other = { endpoint: "https://push.invalid/other", key: [4, 1], p256dh: "", auth: "" };
    await page.evaluate(`localStorage.setItem("stub-subscription", '${JSON.stringify(other)}')`);
    await page.reload();
    await expect.poll(() => toggle(page).isChecked()).toBe(false);
    await turnOn(page);
    expect(await page.evaluate("localStorage.getItem('stub-subscription')")).not.toContain("/other");
  });

  test("that the browser refuses say what to do, and the switch stays off", async () => {
    const fails = (name: string) =>
      `${SUBSCRIBES} PushManager.prototype.subscribe = async () => { throw new DOMException("", "${name}"); };`;
    const { page } = await app.openAlone(PATH, { ...ALLOWED, before: fails("AbortError") });
    await toggle(page).click();
    await page.getByText("This browser can't reach its push service.").waitFor();
    await expect.poll(() => toggle(page).isChecked()).toBe(false);

    const closed = `${SUBSCRIBES}
      Object.defineProperty(Notification, "permission", { get: () => "default" });
      Notification.requestPermission = async () => "default";`;
    const second = await app.openAlone(PATH, { ...ALLOWED, before: closed });
    await toggle(second.page).click();
    await second.page.getByText("You closed the browser's question.").waitFor();
    await expect.poll(() => toggle(second.page).isChecked()).toBe(false);
  });

  test.each<[string, string, string | undefined, string]>([
    [
      "are not allowed",
      `Object.defineProperty(Notification, "permission", { get: () => "denied" })`,
      undefined,
      "This browser does not allow notifications here",
    ],
    ["are missing", "delete window.PushManager", undefined, "This browser has no notifications"],
    [
      "need an app on the home screen",
      "delete window.PushManager",
      "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 Version/26.0 Mobile/15E148 Safari/604.1",
      "Add this app to the home screen first",
    ],
  ])("that %s are explained instead of offered", async (_, before, userAgent, title) => {
    const context = { ...ALLOWED.context, ...(userAgent && { userAgent }) };
    const screen = userAgent ? "phone" : "desktop";
    const opened = await app.openAlone(PATH, { context, before, screen });
    await opened.page.getByRole("alert").getByText(title).waitFor();
    await expect.poll(() => toggle(opened.page).count()).toBe(0);
    await expectNoObjections(opened);
  });

  test("are kept quiet at hours that the person sets, changes and lifts", async () => {
    const { page } = await app.openAlone(PATH, ALLOWED);
    const quiet = page.getByRole("switch", { name: "Keep quiet at certain hours" });
    await quiet.click();
    await page.getByText("Quiet from 22:00 to 07:00.").waitFor();
    const save = page.getByRole("button", { name: "Save" });
    await expect.poll(() => save.isDisabled()).toBe(true);
    await page.getByLabel("From").fill("21:30");
    await page.getByLabel("Time zone").selectOption("Asia/Tokyo");
    await page.getByRole("switch", { name: "Let approvals through" }).click();
    await save.click();
    await page.getByText("Quiet from 21:30 to 07:00.").waitFor();

    const second = await app.openAlone(PATH, ALLOWED);
    await expect.poll(() => second.page.getByLabel("From").inputValue()).toBe("21:30");
    await expect.poll(() => second.page.getByLabel("Time zone").inputValue()).toBe("Asia/Tokyo");
    await expect
      .poll(() => second.page.getByRole("switch", { name: "Let approvals through" }).isChecked())
      .toBe(false);
    await second.page.getByLabel("To").fill("21:30");
    await second.page.getByRole("button", { name: "Save" }).click();
    await second.page.getByText(/must differ from/).waitFor();
    // What was typed stays.
    await expect.poll(() => second.page.getByLabel("To").inputValue()).toBe("21:30");
    await second.page.getByRole("switch", { name: "Keep quiet at certain hours" }).click();
    await second.page.getByText("There are no quiet hours any more.").waitFor();
    await second.page.getByLabel("From").waitFor({ state: "detached" });
  });

  test("in other browsers are listed, and turned off from here", async () => {
    const phone = await app.openAlone(PATH, { ...ALLOWED, screen: "phone" });
    await turnOn(phone.page);
    const { page } = await app.openAlone(PATH, ALLOWED);
    await others(page).getByText("Chrome on Linux").waitFor();
    await others(page).getByText("Approvals, Alerts, Long calls").waitFor();
    await page.getByRole("button", { name: "Turn off notifications in Chrome on Linux" }).click();
    await page.getByRole("button", { name: "Turn off", exact: true }).last().click();
    await others(page).getByText("No other browser is notified.").waitFor();
    await phone.page.reload();
    await expect.poll(() => toggle(phone.page).isChecked()).toBe(false);
  });

  test.each(["desktop", "phone"] as const)("on a %s have no objections of axe", async (screen) => {
    const first = await app.openAlone(PATH, ALLOWED);
    await turnOn(first.page);
    const opened = await app.openAlone(PATH, { ...ALLOWED, screen });
    await turnOn(opened.page);
    await opened.page.getByRole("switch", { name: "Keep quiet at certain hours" }).click();
    await opened.page.getByText("Quiet from 22:00 to 07:00.").waitFor();
    await others(opened.page).getByText("Chrome on Linux").waitFor();
    await expectNoObjections(opened);
  });

  describe("that come by push", () => {
    /** A browser with a service worker, what it shows, and what somebody taps there. */
    async function notified() {
      const { page } = await app.openAlone(PATH, ALLOWED);
      await turnOn(page);
      const context = page.context();
      const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
      const cdp = await context.newCDPSession(page);
      // What comes before it is active is dropped.
      await page.evaluate(activated);
      const registrationId = await registrationOf(cdp);
      const deliver = (message: PushMessage | object | string) =>
        cdp.send("ServiceWorker.deliverPushMessage", {
          origin: new URL(page.url()).origin,
          registrationId,
          data: typeof message === "string" ? message : JSON.stringify(message),
        });
      await worker.evaluate(keepShown);
      const shown = () => worker.evaluate(readShown);
      return { page, worker, deliver, shown };
    }

    /** An AI's command waits for a decision. */
    async function asked() {
      const token = await app.relay.signIn();
      const wish = { name: "helper", paths: null, ask: [{ effects: ["write"] }] };
      const ai = await app.relay.request(token, "POST /v1/tokens", createdTokenSchema, wish);
      const answer = fetch(`${app.relay.url}/v1/devices/${app.machine.id}/tools/create_directory`, {
        method: "POST",
        headers: { Authorization: `Bearer ${ai.token}`, "Content-Type": "application/json" },
        body: JSON.stringify({ path: "/nowhere/at/all" }),
      });
      const waiting = async () =>
        app.relay.request(await app.relay.signIn(), "GET /v1/approvals", approvalListSchema);
      await expect.poll(async () => (await waiting()).approvals.length).toBe(1);
      const [approval] = (await waiting()).approvals;
      const message = {
        ...{ kind: "approval", state: "pending", approval: approval?.id ?? "", device: app.machine.id },
        ...{ machine: app.machine.name, tool: "create_directory", at_machine: false },
      } as const satisfies PushMessage;
      return { message, answer, waiting };
    }

    test("are shown in words, with what can be done", async () => {
      const { deliver, shown } = await notified();
      const device = app.machine.id;
      const machine = "laptop";
      const alert = { kind: "alert", device, machine, event_type: "low_disk_space" };
      const approval = { kind: "approval", state: "pending", device, machine };
      const unknown = { title: "Something happened on your machines" };
      const words: [message: object | string, shown: object][] = [
        ["no JSON", unknown],
        [
          { ...alert, severity: "critical" },
          { title: "Low disk space on laptop", body: "Critical. Tap to see more." },
        ],
        [
          { kind: "finished", device, machine, call: "c1", tool: "Bash", status: "error" },
          { title: "Bash failed on laptop" },
        ],
        [
          { ...approval, approval: "a1", tool: "Bash" },
          {
            title: "Allow Bash on laptop?",
            actions: [{ title: "Allow once" }, { title: "Deny" }],
          },
        ],
        [
          { ...approval, approval: "a2", tool: "\u202eX", at_machine: true },
          { title: "\\u{202E}X waits on laptop", actions: undefined },
        ],
        [{ kind: "of a later release" }, unknown],
      ];
      for (const [message, expected] of words) {
        await deliver(message);
        await expect.poll(async () => (await shown()).at(-1)).toMatchObject(expected);
      }
    });

    test("show the newest of each thing", async () => {
      const { deliver, shown } = await notified();
      const alert = {
        kind: "alert",
        device: app.machine.id,
        machine: "laptop",
        event_type: "low_disk_space",
      };
      await deliver({ ...alert, severity: "warning" });
      await expect.poll(() => shown()).toMatchObject([{ body: "Warning. Tap to see more." }]);
      await deliver({ ...alert, severity: "critical" });
      await expect.poll(() => shown()).toMatchObject([{ body: "Critical. Tap to see more." }]);
    });

    test("allow a call as the browser's own session, with no page's help", async () => {
      const { page, worker, deliver, shown } = await notified();
      const { message, answer, waiting } = await asked();
      await page.goto("about:blank");
      await deliver(message);
      await expect.poll(async () => (await shown()).length).toBe(1);
      await tap(worker, message.approval, "allow");
      expect((await waiting()).approvals).toEqual([]);
      // It ran: there is no such place.
      expect(await (await answer).text()).not.toMatch(/APPROVAL|waits/);
      await expect
        .poll(() => shown())
        .toMatchObject([
          { title: `create_directory on ${app.machine.name}`, body: "Allowed.", silent: true },
        ]);
    });

    test("deny a call, and say so of one that was decided before", async () => {
      const { worker, deliver, shown } = await notified();
      const { message, answer } = await asked();
      await deliver(message);
      await expect.poll(async () => (await shown()).length).toBe(1);
      await tap(worker, message.approval, "deny");
      expect(await (await answer).json()).toMatchObject({ code: "APPROVAL_DENIED" });
      await expect.poll(() => shown()).toMatchObject([{ body: "Denied.", silent: true }]);
      await deliver(message);
      await expect.poll(async () => (await shown())[0]?.body).toBe("Tap to see what would run.");
      await tap(worker, message.approval, "allow");
      await expect.poll(() => shown()).toMatchObject([{ body: "It was decided before.", silent: true }]);
      const token = await app.relay.signIn();
      const { calls } = await app.relay.request(
        token,
        `GET /v1/devices/${app.machine.id}/calls`,
        callListSchema,
      );
      expect(calls[0]).toMatchObject({ tool: "create_directory", state: "expired" });
    });

    test("of one that was decided elsewhere go from the screen of whoever sees the app", async () => {
      const { worker, deliver, shown } = await notified();
      const device = app.machine.id;
      const call = {
        kind: "approval",
        approval: "a1",
        device,
        machine: "laptop",
        tool: "Bash",
        at_machine: false,
      };
      await deliver({ ...call, state: "pending" });
      await expect.poll(async () => (await shown()).length).toBe(1);
      await deliver({ ...call, state: "allowed" });
      await expect.poll(() => shown()).toMatchObject([{ body: "It was allowed." }]);
      await expect.poll(() => worker.evaluate(countOnScreen)).toBe(0);
    });

    test("lead to the page where people decide: an open one goes there, and keeps what it has", async () => {
      const { page, worker, deliver, shown } = await notified();
      const { message, waiting } = await asked();
      await deliver(message);
      await expect.poll(async () => (await shown()).length).toBe(1);
      await page.evaluate("window.isStillThis = true");
      await tap(worker, message.approval, "");
      await page.waitForURL("**/activity?show=needs-you");
      expect(await page.evaluate("window.isStillThis")).toBe(true);
      expect((await waiting()).approvals.length).toBe(1);
    });

    test("lead there, too, if the session is over: nothing is decided", async () => {
      const { page, worker, deliver, shown } = await notified();
      const { message, waiting } = await asked();
      await deliver(message);
      await expect.poll(async () => (await shown()).length).toBe(1);
      await app.relay.request(await app.relay.signIn(), "POST /v1/sessions/revoke-others", z.unknown(), {});
      await tap(worker, message.approval, "allow");
      await page.waitForURL("**/activity?show=needs-you");
      // For whoever does not see that page.
      await expect
        .poll(() => shown())
        .toMatchObject([
          { body: "Your answer did not reach the relay. Tap to answer on the page.", silent: false },
        ]);
      expect((await waiting()).approvals.length).toBe(1);
    });
  });
});

/** In the page: its service worker is active. */
const activated = `navigator.serviceWorker.ready.then(({ active }) => active.state === "activated" ||
  new Promise((resolve) => active.addEventListener("statechange", () => resolve(true), { once: true })))`;

async function registrationOf(cdp: CDPSession): Promise<string> {
  const found = new Promise<string>((resolve) => {
    cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const own = registrations.find(({ scopeURL }) => scopeURL.startsWith(LOCALHOST));
      if (own) resolve(own.registrationId);
    });
  });
  await cdp.send("ServiceWorker.enable");
  return found;
}

/**
 * A tap as the browser reports it. It trusts only its own to wait for what follows, so that is waited for here, and lets
 * only its own bring a page to the front.
 */
async function tap(worker: Worker, about: string, action: string): Promise<void> {
  await worker.evaluate(tapped, { about, action });
}

/* These run in the service worker. */

interface ShownThere {
  title: string;
  body: string;
  tag: string;
  silent: boolean;
  actions?: { action: string; title: string }[] | undefined;
}

interface WorkerScope {
  /** By tag, what was shown last. */
  shown: Map<string, ShownThere>;
  registration: {
    showNotification(title: string, options: Omit<ShownThere, "title">): Promise<void>;
    getNotifications(): Promise<{ tag: string; close(): void }[]>;
  };
  dispatchEvent(event: Event): boolean;
  clients: { openWindow(path: string): Promise<unknown> };
}

/** Chromium forgets now and then what was shown, and is the likelier to the more often it is asked for that. */
function keepShown(): void {
  const scope = globalThis as unknown as WorkerScope;
  const { registration } = scope;
  const show = registration.showNotification.bind(registration);
  scope.shown = new Map();
  registration.showNotification = async (title, options) => {
    await show(title, options);
    const { body, tag, silent, actions } = options;
    scope.shown.delete(tag);
    scope.shown.set(tag, { title, body, tag, silent, actions });
  };
}

function readShown(): ShownThere[] {
  return [...(globalThis as unknown as WorkerScope).shown.values()];
}

async function countOnScreen(): Promise<number> {
  const scope = globalThis as unknown as WorkerScope;
  return (await scope.registration.getNotifications()).length;
}

async function tapped({ about, action }: { about: string; action: string }): Promise<void> {
  const scope = globalThis as unknown as WorkerScope;
  const all = await scope.registration.getNotifications();
  const notification = all.find(({ tag }) => tag.includes(about));
  const event = Reflect.construct(Reflect.get(globalThis, "NotificationEvent"), [
    "notificationclick",
    { notification, action },
  ]) as Event;
  let work: Promise<unknown> = Promise.resolve();
  Object.defineProperty(event, "waitUntil", { value: (promise: Promise<unknown>) => (work = promise) });
  scope.dispatchEvent(event);
  await work.catch((error: Error) => {
    if (error.name !== "InvalidAccessError") throw error;
  });
}
