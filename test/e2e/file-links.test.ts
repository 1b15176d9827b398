/** Links to files through a real relay and a real agent: opened by anybody, ended by their maker, and good for nothing else. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type FileLink, fileLinkSchema } from "../../shared/file-link-api.ts";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { Person } from "./person.ts";
import { type Rig, startRig } from "./rig.ts";

const MINUTE = 60_000;

let rig: Rig;
let person: Person;
let report: string;

beforeAll(async () => {
  rig = await startRig();
  person = await Person.signIn(rig);
  report = join(rig.folder, "report 1.pdf");
  writeFileSync(report, "what the report says");
});
afterAll(() => rig?.stop());

async function linkTo(path: string, hours = 1): Promise<FileLink> {
  const { status, body } = await person.ask("POST", `/v1/devices/${rig.device}/file-links`, { path, hours });
  expect(status).toBe(201);
  return fileLinkSchema.parse(body);
}

/** Links name the address that people use; the test goes to the relay directly. */
function open({ url }: Pick<FileLink, "url">, init: RequestInit = {}): Promise<Response> {
  const { pathname } = new URL(url);
  return fetch(`${rig.relay.url}${pathname}`, init);
}

it("anybody opens it, whole or in part, without a credential", { timeout: MINUTE }, async () => {
  const link = await linkTo(report);
  expect(new URL(link.url).pathname).toMatch(/^\/f\/.+\/report%201\.pdf$/);
  const response = await open(link);
  expect(await response.text()).toBe("what the report says");
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-length": "20",
    "content-disposition": expect.stringContaining("report 1.pdf"),
    "content-security-policy": expect.stringMatching(/^sandbox/),
    "referrer-policy": "no-referrer",
    "x-robots-tag": "noindex",
  });
  const part = await open(link, { headers: { Range: "bytes=5-7" } });
  expect([part.status, await part.text()]).toEqual([206, "the"]);
  const head = await open(link, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length")]).toEqual([200, "20"]);
});

it("shows a page of somebody's as at no origin: it runs nothing, sends nothing, and stays where it is", {
  timeout: MINUTE,
  ...NEEDS_CHROMIUM,
}, async () => {
  const path = join(rig.folder, "page.html");
  const elsewhere = `${rig.relay.url}/v1/health`;
  writeFileSync(
    path,
    `<title>as written</title><h1>Shown</h1><script>document.title = "ran"</script><img src="${elsewhere}"
      onerror="document.title = 'ran'"><meta http-equiv="refresh" content="0; url=${elsewhere}">
    <iframe src="${elsewhere}"></iframe><form action="${elsewhere}"><button>Send</button></form>`,
  );
  const { pathname } = new URL((await linkTo(path)).url);
  await using browser = await startBrowser();
  const page = await browser.newPage();
  const shown = `${rig.relay.url}${pathname}?inline=true`;
  await page.goto(shown);
  await page.getByRole("heading", { name: "Shown" }).waitFor();
  expect(await page.evaluate("[self.origin, document.title]")).toEqual(["null", "as written"]);
  await page.getByRole("button", { name: "Send" }).click();
  expect(await page.evaluate("fetch('/v1/health').then(() => true, () => false)")).toBe(false);
  expect(page.url()).toBe(shown);
});

it("sends the file as it is when it is opened, and a folder as a zip", { timeout: MINUTE }, async () => {
  const path = join(rig.folder, "changing.txt");
  writeFileSync(path, "one");
  const link = await linkTo(path);
  writeFileSync(path, "another");
  expect(await (await open(link)).text()).toBe("another");
  rmSync(path);
  const gone = await open(link);
  expect(gone.status).toBe(404);
  const told = await gone.text();
  for (const place of [rig.folder, "changing.txt", rig.device]) expect(told).not.toContain(place);
  const folder = join(rig.folder, "photos");
  mkdirSync(folder);
  writeFileSync(join(folder, "a.txt"), "a");
  const zip = await open(await linkTo(folder));
  expect(Buffer.from(await zip.arrayBuffer()).toString("latin1", 0, 2)).toBe("PK");
});

it("ends when its maker revokes it, and is told in lists without its secret", {
  timeout: MINUTE,
}, async () => {
  const link = await linkTo(report);
  const listed = await person.ask("GET", "/v1/tokens");
  const secret = link.url.split("/")[4]?.split(".")[2] ?? "none";
  expect(secret).toHaveLength(26);
  expect(JSON.stringify(listed.body)).toContain(link.id);
  expect(JSON.stringify(listed.body)).not.toContain(secret);
  expect((await person.ask("DELETE", `/v1/tokens/${link.id}`)).status).toBe(204);
  const response = await open(link);
  expect([response.status, await response.json()]).toMatchObject([401, { code: "UNAUTHENTICATED" }]);
});

it("opens nothing with a wrong secret, another link's, or no such account", { timeout: MINUTE }, async () => {
  const [one, other] = [await linkTo(report), await linkTo(report)];
  const [account, grant, secret] = one.url.split("/")[4]?.split(".") ?? [];
  const theirs = other.url.split("/")[4]?.split(".")[2];
  const tries = [
    `${account}.${grant}.${theirs}`,
    `${account}.${grant}.`,
    `${account}.${grant}`,
    `${account}..${secret}`,
    `nobody.${grant}.${secret}`,
    `a/../owner.${grant}.${secret}x`,
  ];
  for (const link of tries) expect((await fetch(`${rig.relay.url}/f/${link}/x`)).status).toBe(401);
  const asToken = await fetch(`${rig.base}/tools/list`, { headers: { Authorization: `Bearer ${secret}` } });
  expect(asToken.status).toBe(401);
});

it("does not follow a link that is put in the file's place later", { timeout: MINUTE }, async () => {
  const path = join(rig.folder, "innocent.txt");
  writeFileSync(path, "innocent");
  const link = await linkTo(path);
  rmSync(path);
  symlinkSync(report, path);
  const response = await open(link);
  expect([response.status, await response.text()]).toEqual([409, expect.not.stringContaining("what the")]);
});

it("is not made for what is closed, is not there, or by whoever is no person", {
  timeout: MINUTE,
}, async () => {
  const route = `/v1/devices/${rig.device}/file-links`;
  const before = await person.ask("GET", "/v1/tokens");
  const env = join(rig.folder, ".env");
  writeFileSync(env, "KEY=secret");
  expect((await person.ask("POST", route, { path: env })).body).toMatchObject({ code: "PERMISSION_DENIED" });
  const missing = await person.ask("POST", route, { path: join(rig.folder, "missing") });
  expect(missing).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  expect((await person.ask("POST", route, { path: "report.pdf" })).status).toBe(400);
  expect((await person.ask("POST", route, { path: report, hours: 0 })).status).toBe(400);
  expect((await person.ask("GET", "/v1/tokens")).body).toEqual(before.body);
  const ai = await person.grant({ ask: [] });
  expect((await ai.ask("POST", route, { path: report })).status).toBe(403);
  await person.ask("DELETE", `/v1/tokens/${ai.id}`);
});

it("is made and ended at a command line too", { timeout: MINUTE }, async () => {
  const matrx = await person.commandLine();
  const made = await matrx("share", "file", report, "--device", rig.device, "--hours", "2");
  expect(made.code).toBe(0);
  const link = fileLinkSchema.parse(made.json);
  expect(await (await open(link)).text()).toBe("what the report says");
  expect(await matrx("token", "revoke", link.id)).toMatchObject({ code: 0 });
  expect((await open(link)).status).toBe(401);
  const refused = await matrx("share", "file", report, "--device", rig.device, "--hours", "many");
  expect(refused).toMatchObject({ code: 64 });
});

it("is closed while everything is paused", { timeout: MINUTE }, async () => {
  const link = await linkTo(report);
  expect((await person.ask("POST", "/v1/pause", { paused: true })).status).toBeLessThan(300);
  expect((await open(link)).status).toBe(403);
  expect((await person.ask("POST", "/v1/pause", { paused: false })).status).toBeLessThan(300);
  expect((await open(link)).status).toBe(200);
});
