/** Shows what the relay sends by web push, and does what the person answers: as this browser's session, or on a page. */
import { isAppPath } from "@matrx/shared/pages.ts";
import type { PushMessage } from "@matrx/shared/push-message.ts";
import { api } from "../relay/api.ts";
import { ApiError } from "../relay/api-error.ts";
import { type Question, type Shown, settledShown, shownOf, unansweredShown } from "./notifications.ts";

declare const self: ServiceWorkerGlobalScope;

/** What a notification carries, for whoever taps it later. */
type Carried = Pick<Shown, "title" | "path" | "asks">;

/** Not every browser has these. */
interface Options extends NotificationOptions {
  readonly actions?: readonly { readonly action: string; readonly title: string }[];
  readonly renotify?: boolean;
}

const ACTIONS = [
  { action: "allow", title: "Allow once" },
  { action: "deny", title: "Deny" },
] as const;

self.addEventListener("push", (event) => {
  event.waitUntil(take(shownOf(messageOf(event.data))));
});

self.addEventListener("notificationclick", (event) => {
  const { notification, action } = event;
  const { title, path, asks } = notification.data as Carried;
  notification.close();
  const isAnswer = asks && (action === "allow" || action === "deny");
  event.waitUntil(isAnswer ? decide(asks, action, { title, path, asks }) : openPage(path));
});

self.addEventListener("pushsubscriptionchange", (event) => {
  (event as ExtendableEvent).waitUntil(renew());
});

function messageOf(data: PushMessageData | null): Partial<PushMessage> {
  try {
    const message: unknown = data?.json();
    return typeof message === "object" && message !== null ? message : {};
  } catch {
    return {};
  }
}

/** Browsers want each message to show something. What only takes another one's place goes again if somebody sees the app. */
async function take(shown: Shown): Promise<void> {
  await show(shown);
  if (!shown.isSilent) return;
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (!pages.some(({ visibilityState }) => visibilityState === "visible")) return;
  for (const notification of await self.registration.getNotifications({ tag: shown.tag }))
    notification.close();
}

function show({ title, body, tag, path, isSilent, asks }: Shown): Promise<void> {
  const carried: Carried = { title, path, ...(asks && { asks }) };
  const options: Options = {
    ...{ body, tag, data: carried, silent: isSilent, renotify: !isSilent },
    ...{ icon: "/icon-192.png", badge: "/icon-192.png" },
    ...(asks && { actions: ACTIONS, requireInteraction: true }),
  };
  return self.registration.showNotification(title, options);
}

/** Answers for the person. If that does not work, they see why on the page. */
async function decide(
  question: Question,
  decision: "allow" | "deny",
  { title, path }: Carried,
): Promise<void> {
  const { device, approval } = question;
  const what = title.replace(/^Allow (.*)\?$/, "$1");
  try {
    await api("POST /v1/devices/{device}/approvals/{approval}", {
      path: { device, approval },
      body: { decision },
    });
    await show(settledShown(question, what, decision === "allow" ? "Allowed." : "Denied."));
  } catch (error) {
    const isOver = error instanceof ApiError && (error.code === "CONFLICT" || error.code === "NOT_FOUND");
    if (isOver) await show(settledShown(question, what, "It was decided before."));
    else await openPage(path).catch(() => show(unansweredShown(question, { title, path })));
  }
}

/** A page that is open is told to go there, so that nothing typed in it is lost. */
async function openPage(path: string): Promise<void> {
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages.find(({ url }) => isAppPath(new URL(url).pathname));
  if (!page) {
    await self.clients.openWindow(path);
    return;
  }
  page.postMessage({ type: "go", path });
  await page.focus();
}

/** The browser was given another address by its push service: the relay learns it, and of what kinds it tells stays. */
async function renew(): Promise<void> {
  const { public_key, subscriptions } = await api("GET /v1/push");
  const own = subscriptions.find(({ own }) => own);
  if (!own) return;
  const options = { userVisibleOnly: true, applicationServerKey: public_key };
  const { endpoint = "", keys } = (await self.registration.pushManager.subscribe(options)).toJSON();
  const { p256dh = "", auth = "" } = keys ?? {};
  await api("POST /v1/push/subscriptions", {
    body: { endpoint, keys: { p256dh, auth }, name: own.name, kinds: own.kinds },
  });
}
