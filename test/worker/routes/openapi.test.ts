/** The relay's OpenAPI document is of its own routes, all of them. */
import { expect, it } from "vitest";
import app from "../../../worker/index.ts";
import { ask } from "../helpers/request.ts";

interface Described {
  openapi: string;
  paths: Record<string, Record<string, { operationId: string }>>;
}

async function description(): Promise<Described> {
  const response = await ask("/openapi.json");
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Type")).toBe("application/json");
  return response.json();
}

it("lists every route, and none besides", async () => {
  const { paths } = await description();
  const listed = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  // Middleware stands among the routes under the method ALL, and the files of the pages under `/*`.
  const mounted = app.routes.filter(({ method, path }) => method !== "ALL" && path !== "/*");
  const routes = mounted.map(
    ({ method, path }) => `${method} ${path.replace(/:(\w+)(?:\{[^}]+\})?/g, "{$1}")}`,
  );
  expect(listed.sort()).toEqual([...new Set(routes)].sort());
});

it("is for pages of any origin, and needs no token", async () => {
  const response = await ask("/openapi.json", { headers: { Origin: "https://editor.example" } });
  expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
  await response.body?.cancel();
});

it("comes with a page to be read, under the pages' policy", async () => {
  const response = await ask("/docs");
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
  const policy = response.headers.get("Content-Security-Policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  const [, nonce = ""] = /'nonce-([^']+)'/.exec(policy) ?? [];
  expect(await response.text()).toContain(`<meta name="csp-nonce" content="${nonce}">`);
});
