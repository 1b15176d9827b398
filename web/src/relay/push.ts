/** Notifications in this browser: what it can do, and turning them on and off. Only its own session's are turned on here. */
import { api } from "./api.ts";
import type { Answer } from "./routes.ts";

export type PushOverview = Answer<"GET /v1/push">;
export type PushSubscriptionView = PushOverview["subscriptions"][number];
export type PushKind = PushSubscriptionView["kinds"][number];

/** What keeps a browser from it: only an app on the home screen gets any (Safari on phones), no https, or it has none. */
export type PushObstacle = "install" | "insecure" | "unsupported";

/** As it stands in this browser. */
export type PushState = "on" | "off" | "denied" | PushObstacle;

/** What happened, and what to do. */
export class PushError extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.name = "PushError";
    this.hint = hint;
  }
}

const WORKER = "/sw.js";

/** Whether this browser is told of this account's machines. */
export async function readPushState({ public_key, subscriptions }: PushOverview): Promise<PushState> {
  const obstacle = pushObstacle();
  if (obstacle) return obstacle;
  if (Notification.permission === "denied") return "denied";
  const registration = await navigator.serviceWorker.getRegistration().catch(() => null);
  // The browser has them, and refuses them to this page.
  if (registration === null) return "unsupported";
  const subscription = await registration?.pushManager.getSubscription();
  const isOurs = subscription && Notification.permission === "granted" && isFor(subscription, public_key);
  return isOurs && subscriptions.some(({ own }) => own) ? "on" : "off";
}

/**
 * Asks the person, subscribes, and tells the relay. Must be called by a press: browsers ask nobody otherwise. Throws
 * PushError or ApiError.
 */
export async function turnPushOn({
  public_key,
}: Pick<PushOverview, "public_key">): Promise<PushSubscriptionView> {
  const permission = await Notification.requestPermission();
  if (permission !== "granted") throw notAllowedError(permission);
  const { endpoint, keys } = (await subscribed(public_key)).toJSON();
  const { p256dh = "", auth = "" } = keys ?? {};
  return api("POST /v1/push/subscriptions", { body: { endpoint: endpoint ?? "", keys: { p256dh, auth } } });
}

/** `id`: what the relay calls it. Throws ApiError. */
export async function turnPushOff(id: string | undefined): Promise<void> {
  if (id !== undefined)
    await api("DELETE /v1/push/subscriptions/{subscription}", { path: { subscription: id } });
  const registration = await navigator.serviceWorker.getRegistration();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}

function pushObstacle(): PushObstacle | undefined {
  if (!window.isSecureContext) return "insecure";
  if ("serviceWorker" in navigator && "PushManager" in window && "Notification" in window) return undefined;
  return isIos() && !isInstalled() ? "install" : "unsupported";
}

/** An iPad calls itself a Mac, but can be touched. */
function isIos(): boolean {
  const { userAgent, maxTouchPoints } = navigator;
  return /iPhone|iPad/.test(userAgent) || (/Macintosh/.test(userAgent) && maxTouchPoints > 1);
}

function isInstalled(): boolean {
  return matchMedia("(display-mode: standalone)").matches;
}

async function subscribed(publicKey: string): Promise<PushSubscription> {
  await navigator.serviceWorker.register(WORKER);
  const { pushManager } = await navigator.serviceWorker.ready;
  const before = await pushManager.getSubscription();
  if (before && isFor(before, publicKey)) return before;
  // Of another account, whose key the browser would insist on.
  await before?.unsubscribe();
  try {
    return await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
  } catch (error) {
    if (error instanceof DOMException && error.name === "NotAllowedError") throw notAllowedError("denied");
    throw new PushError(
      "This browser can't reach its push service.",
      "Some networks, private windows and browsers without one keep it away. Try again elsewhere.",
    );
  }
}

/** Whether a subscription was made with this account's key. */
function isFor({ options }: PushSubscription, publicKey: string): boolean {
  const key = options.applicationServerKey;
  return key !== null && base64url(new Uint8Array(key)) === publicKey;
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

function notAllowedError(permission: NotificationPermission): PushError {
  return permission === "denied"
    ? new PushError(
        "This browser does not allow notifications here.",
        "Allow them for this page in the browser's settings, then turn them on again.",
      )
    : new PushError("You closed the browser's question.", "Turn them on again, and choose to allow them.");
}
