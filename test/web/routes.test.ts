/** The routes that the app calls are those of the relay's own description, and its first load stays small. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import * as z from "zod";
import { ROOT, WEB_BUNDLE } from "../../scripts/tree.ts";
import { startRelay } from "../helpers/relay.ts";

const SOURCES = join(ROOT, "web/src");
/** In bytes, compressed: what a phone loads before it shows anything. */
const FIRST_LOAD = 140_000;

function sources(): string[] {
  return readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readFileSync(join(SOURCES, name), "utf8"));
}

test("each route that the app names is described by the relay", async () => {
  await using relay = await startRelay();
  const described = await (await fetch(`${relay.url}/openapi.json`)).json();
  const { paths } = z
    .object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
    .parse(described);
  const lines = new Set(
    sources().flatMap((text) =>
      [...text.matchAll(/"((?:GET|POST|PUT|PATCH|DELETE) \/[^"]*)"/g)].map(([, line]) => line),
    ),
  );
  expect(lines.size).toBeGreaterThan(30);
  const unknown = [...lines].filter((line = "") => {
    const [method = "", path = ""] = line.split(" ");
    return paths[path]?.[method.toLowerCase()] === undefined;
  });
  expect(unknown).toEqual([]);
});

test("the first load is one script and one style sheet beside the choice of colours, at most 140 kB", () => {
  const page = readFileSync(join(WEB_BUNDLE, "index.html"), "utf8");
  const files = [...page.matchAll(/(?:src|href)="(\/[\w./-]+\.(?:js|css))"/g)].map(([, file = ""]) => file);
  expect(files.map((file) => file.replace(/-[\w-]{7}(?=\.)/, ""))).toEqual([
    "/color-scheme.js",
    "/assets/index.js",
    "/assets/index.css",
  ]);
  const sizes = files.map((file) => gzipSync(readFileSync(join(WEB_BUNDLE, file)), { level: 9 }).length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(FIRST_LOAD);
});
