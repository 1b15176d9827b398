/** What the page of a device's web server can do in a real browser, to its later visits and to the relay's own page. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { read, socketOpens } from "../web/hostile.ts";
import { Person } from "./person.ts";
import { type Rig, startRig } from "./rig.ts";
import { linkTo } from "./visitor.ts";

const TEST = { timeout: 60_000, ...NEEDS_CHROMIUM };

/** Tells its program each address that it is shown. */
const SPY = `
  addEventListener("install", () => skipWaiting());
  addEventListener("activate", (event) => event.waitUntil(clients.claim()));
  addEventListener("fetch", (event) => {
    const { url } = event.request;
    if (!url.includes("/told?")) event.waitUntil(fetch("/told?" + encodeURIComponent(url)));
  });
`;

let rig: Rig;
let person: Person;
let port: number;
let browser: Browser;
let context: BrowserContext;
let page: Page;
/** What the program was told by its service worker. */
let told: string[];

beforeAll(async () => {
  rig = await startRig();
  person = await Person.signIn(rig);
  const server = createServer(({ url = "" }, response) => {
    if (url.startsWith("/told?")) told.push(decodeURIComponent(url.slice("/told?".length)));
    const isScript = url.endsWith(".js");
    response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html");
    response.setHeader("Service-Worker-Allowed", "/");
    response.end(isScript ? SPY : "<title>the program</title>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
  if (!NEEDS_CHROMIUM.skip) browser = await startBrowser();
  return () => {
    server.close();
    server.closeAllConnections();
  };
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await rig?.stop();
});
beforeEach(async () => {
  told = [];
  context = await browser.newContext();
  page = await context.newPage();
  await visit();
  return () => context.close();
});

/** Opens a new link in the page. */
async function visit(): Promise<void> {
  await page.goto((await linkTo(rig, person, port)).url);
  expect(await page.title()).toBe("the program");
}

/** Resolves once the worker is at work; with the error's name if it can't be registered. */
function registered(script: string, options: object): Promise<string> {
  return page.evaluate(`navigator.serviceWorker.register(${JSON.stringify(script)}, ${JSON.stringify(options)})
    .then(async ({ installing, active }) => {
      const worker = active ?? installing;
      while (worker.state !== "activated") await new Promise((done) => worker.addEventListener("statechange", done, { once: true }));
      return "activated";
    }, (error) => error.name)`);
}

it("leaves no service worker that sees the codes of later links before they are used", TEST, async () => {
  const tries: [script: string, options: object][] = [
    ["/spy.js", {}],
    ["/spy.js?v=1", { type: "module" }],
    ["/spy.js", { scope: "/.matrx/" }],
    ["/folder/spy.js", { scope: "/" }],
    ["/folder/spy.js", { scope: "/." }],
    ["//spy.js", { scope: "/" }],
  ];
  for (const [script, options] of tries) await registered(script, options);
  await visit();
  await page.goto(new URL("/later", page.url()).href);
  expect(told.filter((address) => address.includes("/.matrx/"))).toEqual([]);
  expect(
    await page.evaluate(
      "navigator.serviceWorker.getRegistrations().then((all) => all.map(({ scope }) => scope))",
    ),
  ).toEqual([]);
});

it("has service workers for its folders", TEST, async () => {
  expect(await registered("/folder/spy.js", {})).toBe("activated");
  const address = new URL("/folder/page", page.url()).href;
  await page.goto(address);
  await expect.poll(() => told).toEqual([address]);
});

it(
  "can neither use nor replace what the relay's own page has: its answers, cookies and passkeys",
  TEST,
  async () => {
    const relay = `http://localhost:${rig.line.port}`;
    expect(await read(page, `${relay}/v1/session`, { method: "POST", mode: "cors" })).toBe("Failed to fetch");
    expect(await socketOpens(page, `${relay}/v1/account/ws`)).toBe(false);
    await page.evaluate(
      `document.cookie = "matrx_session_${rig.line.port}=theirs; domain=localhost; path=/"`,
    );
    expect(await context.cookies(relay)).toEqual([]);
    const options = {
      ...{ rp: { id: "localhost", name: "x" }, pubKeyCredParams: [{ type: "public-key", alg: -7 }] },
      ...{ user: { id: "b3duZXI", name: "x", displayName: "x" }, challenge: "eA", rpId: "localhost" },
    };
    for (const [how, parse] of [
      ["create", "parseCreationOptionsFromJSON"],
      ["get", "parseRequestOptionsFromJSON"],
    ])
      expect(
        await page.evaluate(`navigator.credentials.${how}({
        publicKey: PublicKeyCredential.${parse}(${JSON.stringify(options)}),
      }).catch((error) => error.name)`),
      ).toBe("SecurityError");
  },
);
