/** The frame of the app: addresses, themes, and what it may load. */
import { describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { APP, expectFitting, expectNoObjections, startApp } from "./app.ts";
import { callerOf } from "./caller.ts";

describe("the app's frame", NEEDS_CHROMIUM, () => {
  const app = startApp();

  test("a colour that only one theme gets wrong is found, once it has settled", async () => {
    const opened = await app.openSignedOut("/fleet");
    const { page } = opened;
    await page.getByRole("heading", { name: "Sign in to Matrx Relay" }).waitFor();
    await expectNoObjections(opened);
    for (const [theme, color] of [
      ["light", "#ccc"],
      ["dark", "#333"],
    ] as const) {
      // Grey is right in both.
      const title = "#page-title { font-size: 40px; color: #777; transition: color 1s step-end; }";
      await page.evaluate(`{
        const wrong = new CSSStyleSheet();
        wrong.replaceSync("${title} [data-mantine-color-scheme=${theme}] #page-title { color: ${color}; }");
        document.adoptedStyleSheets = [wrong];
      }`);
      await expect(expectNoObjections(opened)).rejects.toThrow(`in ${theme}`);
    }
  });

  test("a load asks the relay for each thing once", async () => {
    const call = await callerOf(app, { name: "maker", credential: "script" });
    await call("Bash", { command: "true" });
    // What is looked at every few seconds is not counted, and nothing grows old on a slow machine.
    const before = "window.setInterval = () => 0; const now = Date.now(); Date.now = () => now;";
    const { page } = await app.open("", { before });
    let asked: string[] = [];
    page.on("request", (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname.startsWith("/v1/") && request.method() === "GET") asked.push(pathname + search);
    });
    const machine = `/d/${app.machine.id}`;
    for (const path of [machine, "/settings/tokens"]) {
      asked = [];
      await page.goto(`${app.relay.url}${APP}${path}`);
      await page.getByText("Connected", { exact: true }).waitFor();
      if (path === machine)
        await page.getByRole("list", { name: "Recent calls" }).getByText("maker").waitFor();
      await page.waitForLoadState("networkidle");
      expect(asked).toContain("/v1/devices");
      expect(
        asked.filter((address, at) => asked.indexOf(address) !== at),
        path,
      ).toEqual([]);
    }
  });

  test("no page is wider than a screen of 320 pixels", async () => {
    const opened = await app.open("/fleet", { screen: "phone" });
    const { page } = opened;
    await page.setViewportSize({ width: 320, height: 640 });
    const machine = `/d/${app.machine.id}`;
    for (const path of [
      ...["/fleet", "/pair", "/activity", "/settings/account", "/settings/tokens", "/settings/people"],
      ...[machine, `${machine}/tools`, `${machine}/permissions`, `${machine}/tools/SystemInfo`],
    ]) {
      await page.goto(`${app.relay.url}${APP}${path}`);
      await page.getByText("Connected", { exact: true }).waitFor();
      await page.locator("#page-title").waitFor();
      if (path.endsWith("SystemInfo")) {
        await page.getByRole("button", { name: "Run", exact: true }).click();
        await page.getByRole("group", { name: "Output" }).getByText("hostname:").waitFor();
      }
      await expectFitting(opened);
    }
  });

  test("styles carry the response's own nonce, and each response has another", async () => {
    const nonces = await Promise.all(
      [1, 2].map(async () => {
        const response = await fetch(`${app.relay.url}${APP}/fleet`);
        const policy = response.headers.get("Content-Security-Policy") ?? "";
        const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
        expect(await response.text()).toContain(`content="${nonce}"`);
        expect(nonce).toMatch(/^[\w+/]{22}==$/);
        return nonce;
      }),
    );
    expect(nonces[0]).not.toBe(nonces[1]);
  });

  test("files whose names change with their content are kept for good, missing ones are not there", async () => {
    const page = await (await fetch(`${app.relay.url}${APP}`)).text();
    const [file = ""] = page.match(/\/assets\/[\w.-]+\.js/) ?? [];
    const found = await fetch(`${app.relay.url}${file}`, { headers: { "Accept-Encoding": "br" } });
    expect(found.headers.get("Cache-Control")).toContain("immutable");
    expect(found.headers.get("Content-Encoding")).toBe("br");
    const missing = await fetch(`${app.relay.url}/assets/gone-12345678.js`);
    expect(missing.status).toBe(404);
    expect(missing.headers.get("Cache-Control") ?? "").not.toContain("immutable");
  });
});
