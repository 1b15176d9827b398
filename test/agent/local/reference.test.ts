/** The local server's description and its page: open to this machine, closed to foreign names and pages. */
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { REFERENCE_FILES } from "../../../shared/pages.ts";
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

test("both are there without the token, and so is each file that the page loads", async () => {
  const { port } = await serve();
  const described = await get(port, "/openapi.json");
  expect(described.status).toBe(200);
  expect(JSON.parse(described.body).paths).toHaveProperty("/tools/invoke");
  for (const path of ["/docs", ...REFERENCE_FILES.map((name) => `/${name}`)]) {
    const { status, headers } = await get(port, path);
    expect([path, status]).toEqual([path, 200]);
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
    expect(headers["x-content-type-options"]).toBe("nosniff");
  }
});

test("what the page loads is among those files", async () => {
  const { port } = await serve();
  const loaded = new Set<string>();
  for (const name of REFERENCE_FILES) {
    const { body } = await get(port, `/${name}`);
    for (const [, to = ""] of body.matchAll(/(?:from "\.|(?:src|href)="(?=\/[\w-]+\.))\/?([\w./-]+)"/g)) {
      loaded.add(to.replace(/^\//, ""));
    }
  }
  loaded.delete("openapi.json");
  expect([...loaded].filter((name) => !REFERENCE_FILES.includes(name as never))).toEqual([]);
  expect(loaded.size).toBeGreaterThan(5);
});

test("no other file comes out, however it is spelt, and no method but GET", async () => {
  const { port, url } = await serve({ asksToken: false });
  for (const path of [
    "/index.html",
    "/web/docs.html",
    "/../package.json",
    "/..%2fpackage.json",
    "/docs.js/../../package.json",
    "/docs/",
    "//docs",
    "/docs.js%00",
    "/docs.js\\..\\x",
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
  for (const path of ["/openapi.json", "/docs", "/docs.js"]) {
    expect((await get(port, path, { Host: "evil.example" })).status).toBe(403);
    expect((await get(port, path, { Origin: "https://evil.example" })).status).toBe(403);
  }
});
