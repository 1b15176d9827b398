/** The table of routes in docs/protocol.md is the Worker's own. */
import { expect, it } from "vitest";
import page from "../../docs/protocol.md?raw";
import app from "../../worker/index.ts";

it("lists every route, and none besides", () => {
  const rows = page.matchAll(/^\| (GET|POST|PUT|PATCH|DELETE) \| `([^`]+)` \|/gm);
  const listed = Array.from(rows, ([, method, path]) => `${method} ${path}`);
  // Middleware stands among the routes under the method ALL.
  const mounted = app.routes.filter(({ method }) => method !== "ALL");
  const routes = mounted.map(({ method, path }) => `${method} ${path === "/*" ? "*" : path}`);
  expect(listed.sort()).toEqual(routes.sort());
});
