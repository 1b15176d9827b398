/** The local server's description and its page: open to this machine, closed to foreign names and pages. */
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { serve } from "./serve.ts";

/** A request as it is spelt: `fetch` tidies paths and hosts. */
async function get(port: number, path: string, headers: Record<string, string> = {}) {
  const asked = httpRequest({
    host: "127.0.0.1",
    port,
    path,
    headers: { Host: `localhost:${port}`, ...headers },
  });
  asked.end();
  const [response] = await once(asked, "response");
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

/** What a page or a file of it names to be loaded. */
function loadedBy(text: string): string[] {
  const named = text.matchAll(/"(?:\.?\/(?:assets\/)?|assets\/)([\w.-]+\.(?:js|css))"/g);
  return [...named].map(([, name = ""]) => (name === "color-scheme.js" ? `/${name}` : `/assets/${name}`));
}

test("both are there without the token, and so is all that the page loads", async () => {
  const { port } = await serve();
  const described = await get(port, "/openapi.json");
  expect(described.status).toBe(200);
  expect(JSON.parse(described.body).paths).toHaveProperty("/tools/invoke");
  const seen = new Set<string>();
  const left = ["/docs", "/icon.svg"];
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const { status, headers, body } = await get(port, path);
    expect([path, status]).toEqual([path, 200]);
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    left.push(...loadedBy(body));
  }
  expect(seen.size).toBeGreaterThan(4);
});

test("the page may speak to this server alone, and its styles carry the response's own nonce", async () => {
  const { port } = await serve();
  const nonces = await Promise.all(
    [1, 2].map(async () => {
      const { headers, body } = await get(port, "/docs");
      const policy = String(headers["content-security-policy"]);
      expect(policy).toContain("connect-src 'self';");
      expect(policy).toContain("require-trusted-types-for 'script'");
      const [, nonce = ""] = /'nonce-([\w+/]{22}==)'/.exec(policy) ?? [];
      expect(body).toContain(`<meta name="csp-nonce" content="${nonce}">`);
      return nonce;
    }),
  );
  expect(nonces[0]).not.toBe(nonces[1]);
});

test("no other file comes out, however it is spelt, and no method but GET", async () => {
  const { port, url } = await serve({ asksToken: false });
  for (const path of [
    "/app.js",
    "/reference.html",
    "/index.html",
    "/assets",
    "/assets/",
    "/assets/gone.js",
    "/assets/../reference.html",
    "/assets/..%2freference.html",
    "/assets/..\\reference.html",
    "/assets/.vite/manifest.json",
    "/../package.json",
    "/..%2fpackage.json",
    "/icon.svg/../../package.json",
    "/docs/",
    "//docs",
    "/icon.svg%00",
    "/icon.svg\\..\\x",
  ]) {
    expect([path, (await get(port, path)).status]).toEqual([path, 404]);
  }
  const wrong = await fetch(`${url}/docs`, { method: "POST" });
  expect([wrong.status, wrong.headers.get("Allow")]).toEqual([405, "GET, HEAD"]);
  expect(await wrong.json()).toMatchObject({
    code: "METHOD_NOT_ALLOWED",
    hop: "agent",
    allow: ["GET", "HEAD"],
  });
});

test("a foreign Host or Origin gets neither", async () => {
  const { port } = await serve();
  for (const path of ["/openapi.json", "/docs", "/icon.svg"]) {
    expect((await get(port, path, { Host: "evil.example" })).status).toBe(403);
    expect((await get(port, path, { Origin: "https://evil.example" })).status).toBe(403);
  }
});
