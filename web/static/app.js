/** The page: signed out, a code to confirm, or the account's devices and tokens, and of one device tools and events. */
import { api, onOtherSession, signedInAccount, signOut } from "./api.js";
import { callRecordView } from "./call-record.js";
import { commandsView } from "./commands.js";
import { addDeviceView, devicesView } from "./devices.js";
import { button, clearNotice, confirmed, element, showDone, showProblem } from "./dom.js";
import { eventsView } from "./events.js";
import { invitedView } from "./invited.js";
import { finishAtIssuer } from "./issuers.js";
import { liveViews } from "./live.js";
import { shareOfferView } from "./offer.js";
import { pairingView } from "./pairing.js";
import { peopleView } from "./people.js";
import { recordView } from "./record.js";
import { accountOf, claim, signInView } from "./sign-in.js";
import { tokensView } from "./tokens.js";
import { toolsView } from "./tools.js";
import { codeOf, isSameCode, keepWaiting, takeRequest, takeWaiting } from "./waiting.js";
import { youView } from "./you.js";

/** How often the devices' states are looked at while the page is seen, in milliseconds. */
const LOOK_EVERY = 10_000;

const main = document.getElementById("main");
const places = { devices: element("div"), device: element("div") };
let openId;
/** The code that the person typed here instead of following a link. */
let typed;
/** The code of a share's link, until the person has answered. */
let offered;
let closeEvents = () => undefined;
let closeTools = () => undefined;
/** While somebody is signed in: their account's id, and what keeps up with it. */
let shown;
let live;
let refreshTokens = async () => undefined;

/** The address may change while what it asked for before is still loading: the last one is shown last. */
let starting = Promise.resolve();
function start() {
  starting = starting.then(followAddress);
  return starting;
}

/** Does what the address asks for, then shows the page. */
async function followAddress() {
  const { claim: code, oidc, response, pair, call, invite, share } = hashFields();
  main.setAttribute("aria-busy", "true");
  try {
    if (invite || share) history.replaceState(null, "", "/");
    offered = share ?? offered;
    if (code) await signInWith(() => followLink(code));
    if (oidc) await signInWith(() => finishAtIssuer(oidc, response));
    const account = await signedInAccount();
    const isOver = shown !== undefined && !account;
    if (account?.account !== shown) leaveAccount();
    shown = account?.account;
    showAccount(account);
    if (invite) showInvite(invite, account);
    else if (account && offered) showOffer(offered);
    else if (account && call) await showCall(call);
    else if (account) await showSignedIn(account, pair);
    else showSignedOut(pair);
    if (isOver) showDone("You were signed out here: the session was ended elsewhere, or has expired.");
  } catch (error) {
    showProblem(error);
    if (location.hash) location.hash = "";
  } finally {
    main.setAttribute("aria-busy", "false");
  }
}

function hashFields() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

function showInvite(code, account) {
  main.replaceChildren(invitedView(code, { account, done: start }));
  main.querySelector("h2").focus();
}

function showOffer(code) {
  const done = () => {
    offered = undefined;
    return start();
  };
  main.replaceChildren(shareOfferView(code, done));
  main.querySelector("h2").focus();
}

/** A code that waited for the sign-in comes first, then an app's request. */
async function showSignedIn(account, pair) {
  live ??= liveViews({ changed: showEdited, ended: start });
  const waiting = takeWaiting();
  if (waiting && !pair) history.replaceState(null, "", `/#pair=${waiting}`);
  const request = pair || waiting ? undefined : takeRequest();
  if (pair || waiting) await showPairing(pair ?? waiting);
  else if (request) location.replace(`/authorize?${request}`);
  else await showHome(account);
}

async function showCall(call) {
  const leave = () => {
    location.hash = "";
  };
  main.replaceChildren(await callRecordView(call, leave));
  main.querySelector("h2").focus();
}

/** Nothing of it stays on the screen, whoever is signed in next. */
function leaveAccount() {
  live?.close();
  live = undefined;
  closeDevice();
  for (const question of document.querySelectorAll("dialog")) question.close();
}

function showSignedOut(pair) {
  const code = pair && codeOf(pair);
  if (code) keepWaiting(code);
  main.replaceChildren(signInView(start, code));
  main.querySelector("h2").focus();
  if (offered) showDone("Somebody shares devices with you. Sign in to accept.");
}

/** What signs in goes out of the address bar and the history before it is used. */
async function signInWith(work) {
  history.replaceState(null, "", "/");
  try {
    await work();
    clearNotice();
  } catch (error) {
    showProblem(error);
  }
}

/**
 * Anybody can send a link that signs in as themselves, and then wait for what is added to their account: who is signed in
 * already is asked.
 */
async function followLink(code) {
  const [now, then] = [(await signedInAccount())?.account, accountOf(code)];
  const question = `You are signed in as ${now}. This link signs you in as ${then}. Go on only if you asked for it.`;
  if (now && now !== then && !(await confirmed(question, `Sign in as ${then}`, `Stay ${now}`))) return;
  await claim(code);
}

function showAccount(account) {
  const place = document.getElementById("account");
  if (!account) return place.replaceChildren();
  const out = button(
    "Sign out",
    async () => {
      leaveAccount();
      shown = undefined;
      await signOut();
      clearNotice();
      await start();
    },
    { busy: "Signing out …" },
  );
  const name = account.display_name ?? account.account;
  place.replaceChildren(element("span", { class: "soft" }, `Signed in as ${name}`), out);
}

async function showPairing(code) {
  const leave = () => {
    location.hash = "";
  };
  const isTyped = typed !== undefined && isSameCode(typed, code);
  main.replaceChildren(await pairingView(code, { isTyped, done: leave }));
  main.querySelector("h2").focus();
}

async function showHome(account) {
  leaveDevice();
  const devices = await refreshDevices();
  const [tokens, you] = await Promise.all([tokensView(), youView(account)]);
  refreshTokens = tokens.refresh;
  const people = await peopleView(account, { renamed: showAccount, left: refreshDevices });
  main.replaceChildren(
    live.stop,
    live.approvals,
    live.activity,
    places.devices,
    places.device,
    addDeviceView({ changed: refreshDevices, lookUp }),
    tokens.view,
    you,
    people,
    recordView(),
  );
  const online = devices.filter(({ state }) => state === "ONLINE");
  if (online.length === 1) await openDevice(online[0]);
}

/** An approval for always edits its token. */
async function showEdited(name) {
  showDone(`The token “${name}” was edited: it is no longer asked about this tool.`);
  await refreshTokens();
}

function lookUp(code) {
  typed = code;
  location.hash = `pair=${encodeURIComponent(code)}`;
}

async function refreshDevices() {
  const { devices } = await api("GET /v1/devices");
  live?.name(devices);
  if (!devices.some(({ id }) => id === openId)) closeDevice();
  const options = {
    openId,
    removed: () =>
      refreshDevices().then(() => places.devices.querySelector("h2").focus({ preventScroll: true })),
    shared: () => refreshTokens(),
    open: (device) => openDevice(device).then(focusDevice).catch(showProblem),
  };
  // A question on the screen: the button that asked it must be there to get the focus back.
  if (document.querySelector("dialog")) return devices;
  const focused = document.activeElement?.getAttribute("aria-label");
  places.devices.replaceChildren(devicesView(devices, options));
  if (focused) places.devices.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
  return devices;
}

/** The session may be over. */
function askToSignIn(error) {
  return error.status === 401 ? start() : showProblem(error);
}

async function openDevice(device) {
  const refresh = () => refreshDevices().catch(askToSignIn);
  const tools = await toolsView(device, refresh);
  leaveDevice();
  closeTools = tools.close;
  const events = eventsView(device, { changed: refresh });
  closeEvents = events.close;
  openId = device.id;
  const isOwn = device.shared_by === undefined;
  places.device.replaceChildren(tools.view, events.view, ...(isOwn ? [commandsView(device)] : []));
  await refreshDevices();
}

/** Puts the device's view away. Returns what to tell of a call that goes on. */
function closeDevice() {
  closeEvents();
  const told = closeTools();
  closeTools = () => undefined;
  openId = undefined;
  places.device.replaceChildren();
  return told;
}

function leaveDevice() {
  const told = closeDevice();
  if (told) showDone(told);
}

function focusDevice() {
  places.device.querySelector("h2")?.focus();
}

setInterval(() => {
  const seen = document.visibilityState === "visible" && places.devices.isConnected;
  // A button that is pressed right now must still be there when it is let go.
  if (!seen || places.devices.querySelector(":active")) return;
  refreshDevices().catch(askToSignIn);
}, LOOK_EVERY);
addEventListener("hashchange", start);
onOtherSession(async () => {
  const account = await signedInAccount().catch(() => undefined);
  if (account?.account !== shown) await start();
});
await start();
