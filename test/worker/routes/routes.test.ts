/** The table of routes in docs/protocol.md is the Worker's own. */
import { expect, it } from "vitest";
import page from "../../../docs/protocol.md?raw";
import app from "../../../worker/index.ts";
import { ask } from "../helpers/request.ts";

it("lists every route, and none besides", () => {
  const rows = page.matchAll(/^\| (GET|OPTIONS|POST|PUT|PATCH|DELETE) \| `([^`]+)` \|/gm);
  const listed = Array.from(rows, ([, method, path]) => `${method} ${path}`);
  // Middleware stands among the routes under the method ALL, and once more for each route that needs it.
  const mounted = app.routes.filter(({ method }) => method !== "ALL");
  const routes = mounted.map(
    ({ method, path }) => `${method} ${path === "/*" ? "*" : path.replace("{[^]+}", "")}`,
  );
  expect(listed.sort()).toEqual([...new Set(routes)].sort());
});

it.each([
  ["POST", "/v1/devices/laptop-4k7m2x9qpa", "GET, HEAD, PATCH, DELETE"],
  ["PATCH", "/v1/devices", "GET, HEAD, POST"],
  ["GET", "/v1/devices/laptop-4k7m2x9qpa/tools/Read", "POST"],
  ["POST", "/v1/tokens/grant_4k7m2x9qpatr6w1z", "GET, HEAD, PATCH, DELETE"],
  ["DELETE", "/tools/invoke", "POST"],
  ["PUT", "/v1/devices/laptop-4k7m2x9qpa/tools/list", "GET, HEAD"],
])("%s %s says what the path takes", async (method, path, allow) => {
  const response = await ask(path, { method });
  expect([response.status, response.headers.get("Allow")]).toEqual([405, allow]);
  expect(await response.json()).toMatchObject({
    code: "METHOD_NOT_ALLOWED",
    hop: "relay",
    allow: allow.split(", "),
  });
});

it.each(["GET", "POST", "DELETE"])("%s of an unknown path is 404", async (method) => {
  const response = await ask("/v1/nothing", { method });
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ code: "NOT_FOUND" });
});
