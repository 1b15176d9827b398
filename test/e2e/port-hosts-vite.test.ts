/** A Vite dev server of a device in a real browser: a page of a hundred modules, and hot reload. */
import { mkdirSync, writeFileSync } from "node:fs";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { createServer, type ViteDevServer } from "vite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { Person } from "./person.ts";
import { type Rig, startRig } from "./rig.ts";
import { linkTo } from "./visitor.ts";

const MINUTE = 60_000;
const MODULES = 100;

let rig: Rig;
let browser: Browser;
let vite: ViteDevServer;
let project: string;

function writeText(text: string): void {
  writeFileSync(join(project, "text.js"), `export const text = ${JSON.stringify(text)};\n`);
}

beforeAll(async () => {
  rig = await startRig();
  project = join(rig.folder, "project");
  mkdirSync(project);
  const names = Array.from({ length: MODULES }, (_, at) => `module${at}`);
  for (const [at, name] of names.entries())
    writeFileSync(join(project, `${name}.js`), `export const ${name} = ${at};\n`);
  writeText("first");
  const main = [
    ...names.map((name) => `import { ${name} } from "./${name}.js";`),
    'import { text } from "./text.js";',
    'const show = (now) => { document.querySelector("p").textContent = now; };',
    `document.title = String([${names.join(", ")}].length);`,
    "show(text);",
    'import.meta.hot.accept("./text.js", (next) => show(next.text));',
  ];
  writeFileSync(join(project, "main.js"), main.join("\n"));
  writeFileSync(join(project, "index.html"), '<p></p><script type="module" src="/main.js"></script>');
  vite = await createServer({
    ...{ root: project, configFile: false, logLevel: "silent", cacheDir: join(rig.folder, "cache") },
    server: { host: "127.0.0.1", port: 0 },
  });
  await vite.listen();
  if (!NEEDS_CHROMIUM.skip) browser = await startBrowser();
}, MINUTE);
afterAll(async () => {
  await browser?.close();
  await vite?.close();
  await rig?.stop();
});

it("loads, and shows a change without being loaded again", {
  timeout: MINUTE,
  ...NEEDS_CHROMIUM,
}, async () => {
  const person = await Person.signIn(rig);
  // The rates that hold where nobody has set others.
  expect((await person.ask("PUT", `/v1/devices/${rig.device}/policy`, {})).status).toBe(200);
  const server = vite.httpServer as Server;
  const { port } = server.address() as AddressInfo;
  const upgrades: IncomingMessage[] = [];
  server.on("upgrade", (request: IncomingMessage) => upgrades.push(request));
  const link = await linkTo(rig, person, port);
  const page = await browser.newPage();
  const failed: string[] = [];
  page.on("response", (response) => {
    if (response.status() >= 400 && !response.url().endsWith("/favicon.ico")) failed.push(response.url());
  });
  await page.goto(link.url);
  await page.waitForFunction(`document.title === "${MODULES}"`);
  // Another hundred calls, in the same minute.
  await page.reload();
  await page.waitForFunction(`document.title === "${MODULES}"`);
  expect(failed).toEqual([]);
  expect(page.url()).toBe(`${new URL(link.url).origin}/`);
  expect(await page.textContent("p")).toBe("first");
  expect(upgrades.map(({ headers }) => headers["x-forwarded-host"])).toContain(new URL(link.url).host);
  await page.evaluate("window.isSame = true");
  writeText("second");
  await page.waitForFunction('document.querySelector("p").textContent === "second"');
  expect(await page.evaluate("window.isSame")).toBe(true);
  // The page's own script sees nothing of the visit.
  expect(await page.evaluate("document.cookie")).toBe("");
});
