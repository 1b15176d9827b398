/**
 * Hostile pages in a real browser, while somebody is signed in at the relay: of another site, of another port of this
 * machine, under a name that was made to lead here. Each attack first shows that it works on a server without defences.
 */
import type { IncomingMessage } from "node:http";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { polledPairingSchema, startedPairingSchema } from "../../shared/api.ts";
import { tokenListSchema } from "../../shared/token-api.ts";
import { bearer, serve } from "../agent/local/serve.ts";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { connectMachine, type Machine } from "../helpers/machine.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { listen, portOf, read, runsScript, socketOpens, strangersCode } from "./hostile.ts";

/** A name of the attacker's that leads to this machine. */
const REBOUND = "evil.test";

describe("a hostile page", NEEDS_CHROMIUM, () => {
  let relay: TestRelay;
  let machine: Machine;
  let browser: Browser;
  let context: BrowserContext;
  /** The signed-in person's page. */
  let own: Page;
  let faults: string[];
  /** A script of the app's. */
  let script: string;

  beforeAll(async () => {
    relay = await startRelay();
    machine = await connectMachine(relay);
    // Newer browsers ask before a foreign page reaches this machine; older ones, and people who allow it, do not stop there.
    const unguarded = "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests";
    browser = await startBrowser(`--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`, unguarded);
    [script = ""] = (await (await fetch(relay.url)).text()).match(/\/assets\/[\w.-]+\.js/) ?? [];
  });
  afterAll(async () => {
    await browser?.close();
    await machine?.agent.stop();
    await relay?.stop();
  });
  beforeEach(async () => {
    faults = [];
    context = await browser.newContext({ serviceWorkers: "block" });
    own = await context.newPage();
    own.on("pageerror", (error) => faults.push(error.message));
    await own.goto(await relay.signInLink());
    await own.getByRole("heading", { name: "Your machines" }).waitFor();
    return () => context.close();
  });

  /** The person's own page still works as theirs, since nobody else has that machine, and nothing has been added to the account. */
  async function expectUnharmed(): Promise<void> {
    await own.reload();
    await own.getByRole("link", { name: machine.name, exact: true }).waitFor();
    const { tokens } = await relay.request(await relay.signIn(), "GET /v1/tokens", tokenListSchema);
    expect(tokens.filter(({ name }) => name === "stolen")).toEqual([]);
    expect(faults).toEqual([]);
  }

  /** A page of the attacker's. */
  async function open(url: string): Promise<Page> {
    const page = await context.newPage();
    await page.goto(url);
    return page;
  }

  const sites: [string, (port: number) => string][] = [
    ["another site", (port) => `http://${REBOUND}:${port}`],
    ["another port of this machine", (port) => `http://localhost:${port}`],
  ];

  describe.each(sites)("of %s", (_, address) => {
    let evil: Page;
    let requests: IncomingMessage[];

    beforeEach(async () => {
      const server = await listen((request, response) => {
        requests.push(request);
        response.setHeader("Content-Type", "text/html").end("<title>evil</title>");
      });
      requests = [];
      evil = await open(address(portOf(server)));
    });

    test("can't read or change anything by requests with the cookie", async () => {
      const attempts = [
        ["GET", "/v1/account"],
        ["GET", "/v1/tokens"],
        ["POST", "/v1/tokens", { name: "stolen", access: "full" }],
        ["POST", "/v1/sign-in-links", {}],
        ["POST", "/v1/session", {}],
        ["POST", "/v1/sign-out", {}],
        ["POST", `/v1/devices/${machine.id}/tools/Bash`, { command: "touch /tmp/stolen" }],
        ["DELETE", `/v1/devices/${machine.id}`],
        ["PUT", `/v1/devices/${machine.id}/policy`, {}],
      ] as const;
      for (const mode of ["cors", "no-cors"] as const)
        for (const [method, path, body] of attempts)
          expect(await read(evil, relay.url + path, { method, mode, body })).not.toMatch(
            /access_token|"account"|"link"|"tokens"/,
          );
      await expectUnharmed();
    });

    test("can't post a form", async () => {
      for (const [path, type] of [
        ["/v1/tokens", "text/plain"],
        ["/v1/sign-out", "application/x-www-form-urlencoded"],
        ["/v1/session", "multipart/form-data"],
        [`/v1/devices/${machine.id}/commands`, "text/plain"],
      ] as const) {
        const page = await open(evil.url());
        const answered = page.waitForResponse(relay.url + path);
        await page.evaluate(`(() => {
          const form = document.createElement("form");
          Object.assign(form, { action: ${JSON.stringify(relay.url + path)}, enctype: "${type}", method: "post" });
          const input = document.createElement("input");
          Object.assign(input, { name: '{"name":"stolen","access":"full","x":"', value: '"}' });
          form.append(input);
          document.body.append(form);
          form.submit();
        })()`);
        expect((await answered).status()).toBeGreaterThanOrEqual(400);
      }
      await expectUnharmed();
    });

    test("can't open a WebSocket", async () => {
      for (const path of [
        "/v1/account/ws",
        `/v1/devices/${machine.id}/ws`,
        `/v1/device/ws?device=${machine.id}`,
      ])
        expect(await socketOpens(evil, relay.url + path)).toBe(false);
      await expectUnharmed();
    });

    test("can't show the relay's page in a frame, nor use its files", async () => {
      await evil.setContent(`<iframe src="${relay.url}/"></iframe>`);
      await expect
        .poll(() => evil.frames().map((frame) => frame.url()))
        .toContain("chrome-error://chromewebdata/");
      expect(script).toMatch(/js$/);
      expect(await runsScript(evil, relay.url + script)).toBe(false);
      expect(evil.frames().some((frame) => frame.url().startsWith(relay.url))).toBe(false);
      await expectUnharmed();
    });

    test("gets no hold of a window that it opens", async () => {
      const opened = context.waitForEvent("page");
      const isCut = evil.evaluate(`new Promise((resolve) => {
        const other = open(${JSON.stringify(relay.url)});
        const look = setInterval(() => other.closed && (clearInterval(look), resolve(true)), 50);
      })`);
      const window = await opened;
      await window.getByRole("heading", { name: "Your machines" }).waitFor();
      expect(await window.evaluate("opener")).toBeNull();
      expect(await isCut).toBe(true);
      await expectUnharmed();
    });
  });

  test("can't sign a person in as somebody else without a question", async () => {
    await own.goto(`${relay.url}/#claim=${strangersCode()}`);
    const dialog = own.getByRole("dialog");
    await dialog.getByText("You are signed in as owner. This link signs you in as mallory.").waitFor();
    await expect.poll(() => own.evaluate("document.activeElement.textContent")).toBe("Stay owner");
    await own.keyboard.press("Enter");
    await own.getByRole("dialog").waitFor({ state: "detached" });
    await expectUnharmed();
  });

  test("can't sign a person in as somebody else without a question where their session is over, or a code waits", async () => {
    const link = `${relay.url}/#claim=${strangersCode()}`;
    const expectQuestion = async (page: Page, why: string) => {
      await page.getByRole("dialog").getByText(`${why} This link signs you in as mallory.`).waitFor();
      await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Stay signed out");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Sign in to Matrx Relay" }).waitFor();
    };
    await own.close();
    await context.clearCookies();
    await expectQuestion(await open(link), "You were signed in as owner.");

    const fresh = await browser.newContext({ serviceWorkers: "block" });
    onTestFinished(() => fresh.close());
    const waiting = await fresh.newPage();
    await waiting.goto(`${relay.url}/#pair=ABCD-EFGH`);
    await waiting.getByText("Something is waiting for your approval").waitFor();
    const tricked = await fresh.newPage();
    await tricked.goto(link);
    await expectQuestion(tricked, "A machine or a command line waits here for your approval.");
    await waiting.getByText("Something is waiting for your approval").waitFor();
  });

  test("of another port is sent the cookie, and can do nothing with it, nor with what it puts in its place", async () => {
    const seen: string[] = [];
    const server = await listen((request, response) => {
      seen.push(request.headers.cookie ?? "");
      response.setHeader("Content-Type", "text/html").end("<title>evil</title>");
    });
    const evil = await open(`http://localhost:${portOf(server)}`);
    const cookie = seen[0] ?? "";
    expect(cookie).toMatch(/^matrx_session_\d+=ey/);

    // From outside of a browser, as the page itself would ask.
    const headers = { Cookie: cookie, Origin: relay.url };
    expect((await fetch(`${relay.url}/v1/session`, { method: "POST", headers })).status).toBe(401);
    for (const path of ["/v1/account", "/v1/tokens", "/v1/devices"])
      expect((await fetch(relay.url + path, { headers })).status).toBe(401);

    // The key is kept for the relay's origin alone.
    expect(await evil.evaluate("indexedDB.databases().then((all) => all.length)")).toBe(0);
    expect(await own.evaluate("indexedDB.databases().then((all) => all.length)")).toBe(1);

    // Another person's cookie in its place: the key does not fit, so nobody acts as that person by mistake.
    const other = await browser.newContext();
    onTestFinished(() => other.close());
    const attacker = await other.newPage();
    await attacker.goto(await relay.signInLink());
    await attacker.getByRole("heading", { name: "Your machines" }).waitFor();
    const [theirs] = await other.cookies();
    await evil.evaluate(`document.cookie = ${JSON.stringify(`${theirs?.name}=x; path=/v1/session`)}`);
    await own.reload();
    await own
      .getByRole("heading", { name: "Your machines" })
      .or(own.getByRole("heading", { name: "Sign in to Matrx Relay" }))
      .waitFor();
    await context.addCookies([{ ...(theirs as NonNullable<typeof theirs>) }]);
    await own.reload();
    await own.getByRole("heading", { name: "Sign in to Matrx Relay" }).waitFor();
  });

  test("begins no login, dials in as no device, and uses up nothing", async () => {
    const server = await listen((_, response) => response.end("<title>other</title>"));
    const evil = await open(`http://127.0.0.1:${portOf(server)}/`);
    const answers = await evil.evaluate<string[]>(`(async () => {
      const seen = new Set();
      for (let n = 0; n < 40; n++) {
        const init = { method: "POST", headers: { "Content-Type": "text/plain" }, body: '{"name":"x"}' };
        seen.add(await fetch("${relay.url}/v1/logins", init).then((answer) => answer.text(), () => "closed"));
      }
      return [...seen];
    })()`);
    expect(answers).toEqual(["closed"]);
    expect(await socketOpens(evil, `${relay.url}/v1/device/ws?device=${machine.id}`)).toBe(false);
    const login = { name: "cli on laptop" };
    const { code, secret } = await relay.request(undefined, "POST /v1/logins", startedPairingSchema, login);
    const polled = `POST /v1/pairings/${code}/poll` as const;
    const { status } = await relay.request(undefined, polled, polledPairingSchema, { secret });
    expect(status).toBe("pending");
  });

  test("can't get a key out of the browser, even if it ran in the page itself", async () => {
    const exported = own.evaluate(`new Promise((resolve, reject) => {
      const asked = indexedDB.open("matrx");
      asked.onsuccess = () => {
        const got = asked.result.transaction("keys").objectStore("keys").get("session");
        got.onsuccess = () => crypto.subtle.exportKey("jwk", got.result.privateKey).then(resolve, reject);
      };
    })`);
    await expect(exported).rejects.toThrow("key is not extractable");
  });

  test("under a name that was made to lead to the relay gets no answer but a refusal", async () => {
    const rebound = `http://${REBOUND}:${new URL(relay.url).port}`;
    const page = await context.newPage();
    // The first answer came from the attacker's server; now the name leads here.
    await page.route(`${rebound}/`, (route) =>
      route.fulfill({ contentType: "text/html", body: "<title>evil</title>" }),
    );
    await page.goto(rebound);
    for (const path of ["/v1/health", "/v1/account", "/openapi.json", "/fleet", script, "/nowhere"]) {
      const answer = await read(page, rebound + path, { method: "GET", mode: "cors" });
      expect(JSON.parse(answer)).toMatchObject({ status: 403, code: "PERMISSION_DENIED" });
    }
    const claimed = await read(page, `${rebound}/v1/claim`, {
      method: "POST",
      mode: "cors",
      body: { code: await relay.claimCode() },
    });
    expect(JSON.parse(claimed)).toMatchObject({ status: 403 });
    expect(await socketOpens(page, `${rebound}/v1/devices/${machine.id}/ws`)).toBe(false);
    await expectUnharmed();
  });

  test("under such a name, or of another port, gets nothing from the local server either", async () => {
    const { port, runs } = await serve();
    const rebound = `http://${REBOUND}:${port}`;
    const page = await context.newPage();
    await page.route(`${rebound}/`, (route) =>
      route.fulfill({ contentType: "text/html", body: "<title>evil</title>" }),
    );
    await page.goto(rebound);
    const plain = await open(
      `http://localhost:${portOf(await listen((_, response) => response.end("evil")))}`,
    );
    for (const [from, base] of [
      [page, rebound],
      [page, `http://localhost:${port}`],
      [plain, `http://localhost:${port}`],
    ] as const) {
      for (const init of [{}, { headers: bearer }]) {
        const invoked = { method: "POST", mode: "cors", body: { tool: "Echo", input: {} }, ...init } as const;
        expect(await read(from, `${base}/tools/invoke`, invoked)).not.toContain('"success"');
        expect(
          await read(from, `${base}/tools/list`, { method: "GET", mode: "cors", ...init }),
        ).not.toContain('"tools"');
      }
      expect(await socketOpens(from, `${base}/ws`)).toBe(false);
    }
    expect(runs.size).toBe(0);
  });

  test("a server without defences falls for all of it", async () => {
    const taken: string[] = [];
    const naive = await listen((request, response) => {
      taken.push(`${request.method} ${request.headers.cookie ?? ""}`);
      response.setHeader("Access-Control-Allow-Origin", request.headers.origin ?? "*");
      response.setHeader("Access-Control-Allow-Credentials", "true");
      response.setHeader("Set-Cookie", "naive=1; Path=/");
      const isScript = request.url === "/script.js";
      if (isScript) response.setHeader("Content-Type", "text/javascript");
      response.end(isScript ? "globalThis.naive = true" : '{"account":"owner"}');
    });
    const url = `http://localhost:${portOf(naive)}`;
    await open(url);
    const evil = await open(
      `http://localhost:${portOf(await listen((_, response) => response.end("evil")))}`,
    );
    expect(await read(evil, `${url}/v1/account`, { method: "GET", mode: "cors" })).toBe(
      '{"account":"owner"}',
    );
    expect(await runsScript(evil, `${url}/script.js`)).toBe(true);
    await evil.setContent(`<iframe src="${url}/framed"></iframe>`);
    await expect.poll(() => evil.frames().map((frame) => frame.url())).toContain(`${url}/framed`);
    expect(taken.at(-1)).toContain("naive=1");
  });
});
