/** Files of a machine that allows less: a guest who may only read, a policy that asks first, and a relay that is older than the page. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { approvalListSchema } from "../../shared/approval.ts";
import type { Policy } from "../../shared/policy.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectFitting, expectNoObjections, type Opened, startApp } from "./app.ts";
import { openAsGuest } from "./guest.ts";
import { setPolicy } from "./policy.ts";

describe("files with fewer rights", NEEDS_CHROMIUM, () => {
  const app = startApp();
  let folder: string;
  let opened: Opened;
  let page: Page;

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "matrx-rights-")));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
    expect(opened.faults).toEqual([]);
  });

  const write = (name: string, content = `this is ${name}`) => writeFileSync(join(folder, name), content);
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const address = () => `/d/${app.machine.id}/files${folder}`;
  const grid = () => page.getByRole("grid");
  const names = () => grid().locator("[data-index] bdi").allTextContents();
  const row = (name: string) =>
    grid()
      .getByRole("row")
      .filter({ has: page.getByText(name, { exact: true }) });
  const file = () => page.getByRole("region", { name: "File" });
  const problem = () => page.getByRole("alert");
  const upload = (name: string, content: string) =>
    page
      .getByLabel("Files to upload")
      .setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from(content) });
  const uploads = () => page.getByRole("region", { name: "Uploads" });

  async function remove(name: string): Promise<void> {
    await row(name).getByRole("button").click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Move to trash" }).click();
  }

  async function request<S extends z.ZodType>(
    line: `${"POST" | "PUT" | "GET"} /${string}`,
    schema: S,
    body?: unknown,
  ) {
    return app.relay.request(await app.relay.signIn(), line, schema, body);
  }

  test("of a person who was given the machine to read are looked at; what changes them is not offered", async () => {
    write("notes.txt");
    write("other.txt");
    opened = await openAsGuest(app, { paths: [folder], effects: ["read"] });
    page = opened.page;
    // Where the machine begins for him is the folder that he may see.
    await page.goto(`${app.relay.url}/d/${app.machine.id}/files`);
    await expect.poll(names).toEqual(["notes.txt", "other.txt"]);
    await page.getByText("but not change them: it is not part of what owner shares with you.").waitFor();
    for (const name of ["New folder", "Upload", "Terminal"])
      expect(await page.getByRole("button", { name, exact: true }).count(), name).toBe(0);
    await row("notes.txt").locator("bdi").click();
    await file().getByText("this is notes.txt").waitFor();
    expect(await file().getByRole("button", { name: "Edit", exact: true }).count()).toBe(0);
    await expectFitting(opened);
    await row("notes.txt").getByRole("button").click();
    const items = ["Open", "Choose", "Download", "Copy path"];
    expect(await page.getByRole("menuitem").allTextContents()).toEqual(items);
    await page.keyboard.press("Escape");
    await file().getByRole("button", { name: "Close the file" }).click();
    await grid().focus();
    for (const key of ["F2", "Delete", "Control+a", "Delete"]) await page.keyboard.press(key);
    const bar = page.getByRole("toolbar", { name: "Chosen entries" });
    await bar.getByRole("button", { name: "Download" }).waitFor();
    expect(await bar.getByRole("button").allTextContents()).toEqual(["All", "Download", "Copy paths", ""]);
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await drop("dropped.txt")).toBe("none");
    expect(await uploads().count()).toBe(0);
    await page.goto(`${app.relay.url}${address()}?file=notes.txt&edit=true`);
    await file().getByText("It can't be saved. The machine does not offer “Write” to you").waitFor();
    await page.getByLabel("Content of notes.txt").focus();
    await page.keyboard.type("typed ");
    await file().getByText("Not saved; kept in this tab").waitFor();
    expect(await file().getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    await page.goto(`${app.relay.url}${address()}?terminal=right`);
    await page
      .getByRole("region", { name: "Terminals" })
      .getByText("The machine does not offer “TerminalAttach” to you")
      .waitFor();
    await expectNoObjections(opened);
    await page.getByRole("button", { name: "Terminal", exact: true }).click();
    await page.getByRole("region", { name: "Terminals" }).waitFor({ state: "detached" });
  });

  test("of a person who may write but not delete are changed, and the page says what is left out", async () => {
    write("notes.txt");
    opened = await openAsGuest(app, { paths: [folder], effects: ["read", "write"] });
    page = opened.page;
    await page.goto(`${app.relay.url}${address()}`);
    await page.getByText("Not available to you here: deleting.").waitFor();
    await page.getByRole("button", { name: "New folder" }).waitFor();
    await row("notes.txt").getByRole("button").click();
    const items = await page.getByRole("menuitem").allTextContents();
    expect(items).toContain("Rename …");
    for (const left of ["Delete", "Open in terminal", "Share a link …", "Send to the cloud store"])
      expect(items).not.toContain(left);
    await expectFitting(opened);
  });

  test("through a relay that lists all tools to a guest, are refused clearly", async () => {
    write("notes.txt");
    const list = z.object({ tools: z.array(z.unknown()) }).loose();
    const all = await request(`GET /v1/devices/${app.machine.id}/tools`, list);
    opened = await openAsGuest(app, { paths: [folder], effects: ["read"] });
    page = opened.page;
    await page.route(`**/v1/devices/${app.machine.id}/tools`, (one) => one.fulfill({ json: all }));
    await page.goto(`${app.relay.url}${address()}`);
    await remove("notes.txt");
    const news = page.getByRole("status", { name: "News" });
    await expect.poll(() => news.textContent()).toMatch(/needs the permission "execute"; granted: read/);
    await page.getByRole("button", { name: "Close this message" }).first().click();
    await page.getByRole("button", { name: "New folder" }).click();
    await page.getByLabel("Name of the folder").fill("mine");
    await page.getByRole("button", { name: "Make it" }).click();
    await problem().waitFor();
    expect(await problem().textContent()).toMatch(/needs the permission "write"/);
    expect(await problem().textContent()).not.toMatch(/token/);
    await page.getByRole("button", { name: "Cancel" }).click();
    await upload("mine.txt", "mine");
    await uploads().getByText("1 failed").waitFor();
    await uploads().getByRole("button", { name: "Details" }).click();
    await uploads()
      .getByText(/needs the permission "write"/)
      .waitFor();
    await row("notes.txt").locator("bdi").click();
    await file().getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByLabel("Content of notes.txt").focus();
    await page.keyboard.type("typed ");
    await page.keyboard.press("Control+s");
    await file()
      .getByRole("alert")
      .getByText(/needs the permission "write"/)
      .waitFor();
    await file().getByText("Not saved; kept in this tab").waitFor();
    await expectFitting(opened);
    expect(read("notes.txt")).toBe("this is notes.txt");
    expect(existsSync(join(folder, "mine"))).toBe(false);
  });

  /** What becomes of a file that is dropped on the list. */
  function drop(name: string): Promise<string> {
    return page.evaluate<string>(`(() => {
      const list = document.querySelector("[role=grid]");
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["x"], ${JSON.stringify(name)}));
      const over = new DragEvent("dragover", { bubbles: true, cancelable: true, dataTransfer });
      list.dispatchEvent(over);
      list.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
      return over.defaultPrevented ? dataTransfer.dropEffect : "shown by the browser";
    })()`);
  }

  const policy = (wanted: Policy) => setPolicy(app, wanted);

  /** Answers all that waits, once so much does. */
  async function decide(decision: "allow" | "deny", count: number): Promise<void> {
    const waiting = async () =>
      (await request("GET /v1/approvals", approvalListSchema)).approvals.filter(
        ({ state }) => state === "pending",
      );
    await expect.poll(async () => (await waiting()).length).toBe(count);
    for (const { device, id } of await waiting())
      await request(`POST /v1/devices/${device}/approvals/${id}`, z.unknown(), { decision });
  }

  test("of a machine that asks first wait for a yes, with the way to it; then they go on, or are told no", async () => {
    write("a.txt");
    write("b.txt");
    write("notes.txt");
    await policy({ ask: [{ tools: ["Delete", "Move", "Write", "Upload"] }] });
    opened = await app.open(address());
    page = opened.page;
    await expect.poll(names).toEqual(["a.txt", "b.txt", "notes.txt"]);
    const waits = page.getByRole("status").filter({ hasText: "1 call waits for approval" });
    await remove("a.txt");
    await waits.getByRole("link", { name: "Decide in Activity" }).waitFor();
    await expectNoObjections(opened);
    await decide("allow", 1);
    await expect.poll(names).toEqual(["b.txt", "notes.txt"]);
    await waits.waitFor({ state: "detached" });
    await remove("b.txt");
    await waits.waitFor();
    await decide("deny", 1);
    await page
      .getByText(/denied/i)
      .first()
      .waitFor();
    await waits.waitFor({ state: "detached" });
    await expect.poll(names).toEqual(["b.txt", "notes.txt"]);

    await page.goto(`${app.relay.url}${address()}?file=notes.txt&edit=true`);
    await page.getByLabel("Content of notes.txt").focus();
    await page.keyboard.type("typed ");
    await page.keyboard.press("Control+s");
    await waits.waitFor();
    expect(read("notes.txt")).toBe("this is notes.txt");
    await decide("allow", 1);
    await page.getByText("notes.txt was saved.").waitFor();
    expect(read("notes.txt")).toBe("typed this is notes.txt");
    await page.keyboard.type("more ");
    await page.keyboard.press("Control+s");
    await waits.waitFor();
    await decide("deny", 1);
    await file()
      .getByRole("alert")
      .getByText(/denied/i)
      .first()
      .waitFor();
    await file().getByText("Not saved; kept in this tab").waitFor();

    await upload("up.txt", "up");
    await decide("allow", 1);
    await uploads().getByText("1 file uploaded").waitFor({ timeout: 20_000 });
    expect(read("up.txt")).toBe("up");
  });

  test("through a relay that is one release older say what it can't do yet, and the rest works", async () => {
    write("notes.txt");
    opened = await app.open(address());
    page = opened.page;
    await row("notes.txt").waitFor();
    const body = JSON.stringify({
      ...{ type: "about:blank", title: "Not found", status: 404, code: "NOT_FOUND", hop: "relay" },
      detail: "Nothing here at this path",
    });
    const older = { status: 404, contentType: "application/problem+json", body };
    for (const route of ["**/files/**", "**/uploads", "**/file-links", "**/cloud-files"])
      await page.route(`${app.relay.url}/v1/devices/${route}`, (one) => one.fulfill(older));
    const old = "This relay can't do that yet: it is older than this page.";
    await row("notes.txt").locator("bdi").click();
    await file().getByText(old).waitFor();
    await upload("mine.txt", "mine");
    await uploads().getByText("1 failed").waitFor();
    await uploads().getByRole("button", { name: "Details" }).click();
    await uploads().getByText(old).waitFor();
    await expectNoObjections(opened);
    await row("notes.txt").getByRole("button").click();
    await page.getByRole("menuitem", { name: "Share a link" }).click();
    await page.getByRole("button", { name: "Make the link" }).click();
    await page.getByRole("dialog").getByText(old).waitFor();
    await page.keyboard.press("Escape");
    await row("notes.txt").getByRole("button").click();
    await page.getByRole("menuitem", { name: "Send to the cloud store" }).click();
    await page.getByRole("status", { name: "News" }).getByText(old).waitFor();
    await remove("notes.txt");
    await page.getByText("This folder is empty.").waitFor();
  });
});
