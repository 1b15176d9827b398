/** The tools of a machine's page: for the browser's AI by WebMCP, and for scripts by `window.matrx`. */
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { createdDeviceSchema } from "../../shared/api.ts";
import { isAlive } from "../agent/tools/workbench.ts";
import { NEEDS_CHROMIUM, NEEDS_FULL_CHROMIUM, startFullBrowser } from "../helpers/browser.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { expectNoObjections } from "./app.ts";
import { answer, letAct, letIn, matrx, question, untilOffered } from "./page-tools.ts";
import { setPolicy } from "./policy.ts";
import { expectOnScreen, screenOf, startTerminalApp } from "./terminal.ts";

/** As the document has them: parameters, and those that are needed. */
const DOCUMENTED = {
  file_find: [["pattern", "path"], ["pattern"]],
  file_list: [["path"], ["path"]],
  file_navigate: [["path"], ["path"]],
  file_read: [["path", "max_bytes"], ["path"]],
  find_and_edit: [["pattern", "editor"], ["pattern"]],
  run_in_new_terminal: [["command"], ["command"]],
  terminal_close: [["terminal_id"], ["terminal_id"]],
  terminal_create: [["x", "y"], []],
  terminal_execute: [["command", "terminal_id"], ["command"]],
  terminal_focus: [["terminal_id"], ["terminal_id"]],
  terminal_list: [[], []],
} as const;

/** The command is over, and the shell waits for the next one. */
const INTERRUPTED = /sleep 1000\n+.*[$#]$/;

const NAMES = Object.keys(DOCUMENTED);

describe("a machine's page for the browser's AI", { ...NEEDS_FULL_CHROMIUM, timeout: 120_000 }, () => {
  const app = startTerminalApp({ browser: () => startFullBrowser("--enable-features=WebMCP") });
  const machinePage = () => `/d/${app.machine.id}`;
  const open = async (screen: "desktop" | "phone" = "desktop") => {
    const opened = await app.open(machinePage(), { screen });
    await untilOffered(opened.page);
    return opened;
  };
  const offered = async (page: Page) => (await page.webmcp.tools()).map(({ name }) => name).sort();
  /** By WebMCP. */
  const call = (page: Page, name: string, input: Record<string, string | number> = {}) =>
    page.webmcp.callTool(name, input) as Promise<unknown>;

  test("offers the eleven tools as the document has them, on pages of an agent's machine alone", async () => {
    const { page, faults } = await open();
    const tools = await page.webmcp.tools();
    const parameters = tools.map(({ name, inputSchema }) => {
      const { properties = {}, required = [] } = inputSchema as { properties?: object; required?: string[] };
      return [name, [Object.keys(properties), required]];
    });
    expect(Object.fromEntries(parameters)).toEqual(DOCUMENTED);
    expect(await page.evaluate("Object.keys(window.matrx).sort()")).toEqual(NAMES);
    await page.evaluate("(() => { window.matrx = 1; window.matrx.file_list = 1; })()");
    expect(await page.evaluate("typeof window.matrx.file_list")).toBe("function");
    await page.getByRole("link", { name: "Tools", exact: true }).first().click();
    await page.getByRole("heading", { level: 1, name: /^Tools of/ }).waitFor();
    expect(await offered(page)).toEqual(NAMES);
    await page.getByRole("link", { name: "Machines", exact: true }).first().click();
    await page.getByRole("heading", { level: 1, name: "Machines" }).waitFor();
    await expect.poll(() => offered(page)).toEqual([]);
    expect(await page.evaluate("window.matrx")).toBeUndefined();
    const owner = await app.relay.signIn();
    const bare = { name: "a program" };
    const { device } = await app.relay.request(owner, "POST /v1/devices", createdDeviceSchema, bare);
    await page.goto(`${app.relay.url}/d/${device.id}`);
    await page.getByRole("heading", { level: 1, name: "a program" }).waitFor();
    await page.getByText("Events", { exact: true }).first().waitFor();
    expect(await offered(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("its terminal tools work with the terminals that the person sees, and answer as the document says", async () => {
    const { page, faults } = await open();
    const created = call(page, "terminal_create");
    await answer(page, "Also run commands, asking each time");
    await answer(page, "Allow all for 15 minutes");
    expect(await created).toEqual({ terminal_id: 1, x: 100, y: 100 });
    expect(new URL(page.url()).pathname).toBe(`${machinePage()}/terminal`);
    expect(await call(page, "terminal_execute", { command: "echo hi" })).toEqual({
      ...{ output: "hi\n", exit_code: 0, terminal_id: 1 },
    });
    await expectOnScreen(page, /[$#] echo hi\nhi\n/);
    expect(await call(page, "terminal_execute", { command: "printf no; (exit 3)" })).toEqual({
      ...{ output: "no", exit_code: 3, terminal_id: 1 },
    });
    expect(await call(page, "terminal_create", { x: 5, y: -7 })).toEqual({ terminal_id: 2, x: 5, y: -7 });
    await call(page, "terminal_execute", { command: "cd /tmp", terminal_id: 1 });
    const home = expect.any(String);
    expect(await call(page, "terminal_list")).toEqual([
      { id: 1, working_dir: "/tmp", focused: true },
      { id: 2, working_dir: home, focused: false },
    ]);
    expect(await call(page, "terminal_focus", { terminal_id: 2 })).toEqual({ success: true });
    expect(await call(page, "terminal_list")).toMatchObject([{ focused: false }, { focused: true }]);
    await page.keyboard.type("echo typed-$((1 + 1))");
    await page.keyboard.press("Enter");
    await expectOnScreen(page, "\ntyped-2\n");
    expect(await screenOf(page)).not.toContain("hi");
    const nobody = { success: false, reason: expect.stringContaining("There is no terminal 9") };
    expect(await call(page, "terminal_focus", { terminal_id: 9 })).toEqual(nobody);
    expect(await call(page, "terminal_execute", { command: "echo hi; exit 3" })).toEqual({
      ...{ output: "hi\n", exit_code: 3, terminal_id: 2 },
    });
    expect(await call(page, "terminal_list")).toMatchObject([{ id: 1 }]);
    const { output } = (await call(page, "terminal_execute", {
      ...{ command: "sleep 1000 & echo $!", terminal_id: 1 },
    })) as { output: string };
    const pid = Number(/(\d+)\n$/.exec(output)?.[1]);
    expect(isAlive(pid)).toBe(true);
    await page.reload();
    await letIn(page);
    expect(await call(page, "terminal_list"), "numbers last through a reload").toMatchObject([{ id: 1 }]);
    const closed = call(page, "terminal_close", { terminal_id: 1 });
    await question(page).getByText("Close terminal 1 and end what runs in it").waitFor();
    await answer(page, "Allow all for 15 minutes");
    expect(await closed).toEqual({ success: true });
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect(await call(page, "terminal_list")).toEqual([]);
    expect(await call(page, "terminal_close", { terminal_id: 1 })).toMatchObject({ success: false });
    expect(await call(page, "terminal_create")).toMatchObject({ terminal_id: 3 });
    expect(faults).toEqual([]);
  });

  test("its file tools answer as the document says, and show what they find in the page", async () => {
    const folder = realpathSync(temporaryFolder());
    mkdirSync(join(folder, "deep", "er"), { recursive: true });
    writeFileSync(join(folder, "a.txt"), "é".repeat(50));
    writeFileSync(join(folder, ".hidden"), "");
    symlinkSync("a.txt", join(folder, "link"));
    for (let at = 0; at < 47; at++) writeFileSync(join(folder, "deep", `${at}.txt`), "x");
    const logs = ["one.log", "deep/two.log", "deep/er/three.log"].map((name) => join(folder, name));
    for (const log of logs) writeFileSync(log, "error\n");
    writeFileSync(join(folder, "bytes"), Uint8Array.of(1, 0, 255, 254));
    const { page, faults } = await open();
    const listing = call(page, "file_list", { path: folder });
    await answer(page, "Look only");
    const color = expect.any(Number);
    expect(await listing).toEqual([
      { name: ".hidden", type: "file", size: 0, color },
      { name: "a.txt", type: "file", size: 100, color },
      { name: "bytes", type: "file", size: 4, color },
      { name: "deep", type: "directory", size: expect.any(Number), color },
      { name: "link", type: "link", size: 5, color },
      { name: "one.log", type: "file", size: 6, color },
    ]);
    const read = (input: Record<string, string | number>) => call(page, "file_read", input);
    const path = join(folder, "a.txt");
    expect(await read({ path })).toEqual({ content: "é".repeat(50), truncated: false });
    expect(await read({ path, max_bytes: 10 })).toEqual({ content: "é".repeat(5), truncated: true });
    expect(await read({ path, max_bytes: 11 })).toEqual({ content: "é".repeat(5), truncated: true });
    expect(await read({ path, max_bytes: 1 })).toEqual({ content: "", truncated: true });
    expect(await read({ path: join(folder, ".hidden") })).toEqual({ content: "", truncated: false });
    expect(await read({ path: join(folder, "bytes") })).toMatchObject({
      ...{ isError: true, code: "TOOL_EXECUTION_FAILED", message: expect.stringContaining("no text") },
    });
    const find = (input: Record<string, string | number>) => call(page, "file_find", input);
    const found = (await find({ pattern: "*.log", path: folder })) as { path: string }[];
    expect(found.sort((a, b) => a.path.length - b.path.length)).toEqual(
      logs.map((log) => ({ name: log.split("/").at(-1), path: log, type: "file" })),
    );
    expect(await find({ pattern: "two", path: folder })).toEqual([]);
    expect(await find({ pattern: "er", path: folder })).toEqual([
      { name: "er", path: join(folder, "deep/er"), type: "directory" },
    ]);
    const navigate = (to: string) => call(page, "file_navigate", { path: to });
    expect(await navigate(join(folder, "deep"))).toEqual({ success: true, files_count: 49 });
    await page.getByText("49 entries").waitFor();
    expect(new URL(page.url()).pathname).toBe(`${machinePage()}/files${folder}/deep`);
    expect(await find({ pattern: "*.log" }), "below the folder that is shown").toHaveLength(2);
    expect(await navigate(join(folder, "nowhere"))).toEqual({
      ...{ success: false, files_count: 0, reason: expect.stringContaining("nowhere") },
    });
    expect(await navigate(path)).toMatchObject({ success: false, reason: expect.any(String) });
    expect(faults).toEqual([]);
  });

  test("its combined tools open terminals that stay, whatever files are called", async () => {
    const folder = realpathSync(temporaryFolder());
    const names = ['a\'b "c" $(touch owned).log', "-rf.log", "new\nline\t!!`id`.log", "\\x41\u202e%;é.log"];
    for (const name of names) writeFileSync(join(folder, name), `in ${JSON.stringify(name)}\n`);
    const { page, faults } = await open();
    await letAct(page);
    expect(await matrx(page, "run_in_new_terminal", { command: "echo $((40 + 2))" })).toEqual({
      ...{ terminal_id: 2, output: "42\n" },
    });
    expect(await matrx(page, "terminal_list")).toMatchObject([{ id: 1 }, { id: 2, focused: true }]);
    await matrx(page, "file_navigate", { path: folder });
    expect(await matrx(page, "find_and_edit", { pattern: "*.none" })).toEqual({
      ...{ files_found: 0, terminal_id: null, searched: folder },
    });
    expect(await matrx(page, "find_and_edit", { pattern: "*.log", editor: "cat" })).toEqual({
      ...{ files_found: 4, terminal_id: 3 },
    });
    for (const name of names) await expectOnScreen(page, `in ${JSON.stringify(name)}`);
    expect(await matrx(page, "file_find", { pattern: "owned", path: folder })).toEqual([]);
    // The terminals took the page over: the folder that was shown is still the one.
    expect(await matrx(page, "find_and_edit", { pattern: "-rf.log", editor: "printf '%s;' x; id" })).toEqual({
      ...{ files_found: 1, terminal_id: 4 },
    });
    await expectOnScreen(page, /\n'x;;''id;''\//);
    expect(faults).toEqual([]);
  });

  test("does nothing before its person said yes, and only a press of theirs says it", async () => {
    const opened = await open();
    const { page } = opened;
    const first = call(page, "terminal_list");
    await question(page).waitFor();
    await expect.poll(() => page.evaluate("document.activeElement?.textContent")).toBe("Deny");
    // A script may press whatever it wants.
    await page.locator("[role=dialog] button[aria-disabled]").first().waitFor({ state: "detached" });
    await page.evaluate(
      "for (const one of document.querySelectorAll('[role=dialog] button')) if (one.textContent !== 'Deny') one.click()",
    );
    await expectNoObjections(opened);
    expect(await question(page).count()).toBe(1);
    await page.keyboard.press("Escape");
    expect(await first).toMatchObject({ isError: true, code: "APPROVAL_DENIED", hint: expect.any(String) });
    expect(await call(page, "file_list", { path: "/" }), "it is quiet after a no").toMatchObject({
      code: "APPROVAL_DENIED",
    });
    expect(await question(page).count()).toBe(0);
    await page.reload();
    await letIn(page, "Look only");
    expect(await call(page, "terminal_list")).toEqual([]);
    await page.getByRole("status").filter({ hasText: "can look at" }).waitFor();
    expect(await call(page, "terminal_create")).toMatchObject({ isError: true, code: "APPROVAL_DENIED" });
    await page.reload();
    await letIn(page);
    const hostile = `echo one\u202e\u200b two\u2066\n# ${"x".repeat(300)}`;
    const denied = call(page, "run_in_new_terminal", { command: hostile });
    await question(page).getByText(String.raw`echo one\u{202E}\u{200B} two\u{2066}`).waitFor();
    await expectNoObjections(opened);
    await answer(page, "Deny");
    expect(await denied).toMatchObject({ isError: true, code: "APPROVAL_DENIED" });
    expect(await call(page, "terminal_list")).toEqual([]);
    const once = call(page, "terminal_execute", { command: "echo once" });
    await question(page).getByText("Run in a new terminal").waitFor();
    await answer(page, "Allow once");
    expect(await once).toMatchObject({ output: "once\n" });
    const again = call(page, "terminal_execute", { command: "echo all" });
    await question(page).getByText("Run in terminal 1").waitFor();
    await answer(page, "Allow all for 15 minutes");
    expect(await again).toMatchObject({ output: "all\n" });
    expect(await call(page, "terminal_execute", { command: "echo more" })).toMatchObject({
      output: "more\n",
    });
    await expectNoObjections(opened);
    const running = call(page, "terminal_execute", { command: "sleep 1000" });
    await expectOnScreen(page, /sleep 1000$/);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    expect(await running).toMatchObject({ isError: true, code: "CANCELLED" });
    await expectOnScreen(page, INTERRUPTED);
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
    expect(await call(page, "terminal_list")).toMatchObject({ code: "APPROVAL_DENIED" });
  });

  test("asks on a phone too, and at most sixteen calls wait for an answer", async () => {
    const opened = await open("phone");
    const { page } = opened;
    await page.setViewportSize({ width: 360, height: 640 });
    await page.evaluate(
      "window.answers = Array.from({ length: 17 }, () => window.matrx.file_list({ path: '/' }).then(() => 'ok', ({ code }) => code)); 0",
    );
    expect(await page.evaluate("window.answers[16]")).toBe("RATE_LIMITED");
    await expectNoObjections(opened);
    await answer(page, "Look only");
    const codes = await page.evaluate<string[]>("Promise.all(window.answers)");
    expect(codes.filter((code) => code === "ok")).toHaveLength(16);
    await page.getByRole("status").filter({ hasText: "can look at" }).waitFor();
    await expectNoObjections(opened);
  });

  test("takes no parameters that the document does not know, and says what is wrong", async () => {
    const { page } = await open();
    for (const [tool, input, message] of [
      ["terminal_execute", {}, "command is required"],
      ["terminal_execute", { command: 7 }, "command has to be a string"],
      ["terminal_execute", { command: " " }, "command can't be blank"],
      ["terminal_execute", { command: "x", terminal_id: 1.5 }, "terminal_id has to be a whole number"],
      ["terminal_execute", { command: "x", shell: "sh" }, "shell: the tool has no such parameter"],
      ["file_read", { path: "/x", max_bytes: 2 ** 21 }, "max_bytes has to be from 1 to 1048576"],
    ] as const)
      expect(await matrx(page, tool, input)).toMatchObject({
        ...{ failed: true, code: "INVALID_PARAMETERS", message, hint: expect.any(String) },
      });
    const keys = "command can't have control characters: keys can't be pressed";
    expect(await matrx(page, "run_in_new_terminal", { command: "echo \u001b[2K" })).toMatchObject({
      message: keys,
    });
    expect(await question(page).count(), "nobody is asked").toBe(0);
  });

  test("waits for what the machine's rules ask about, too", async () => {
    const { page } = await open();
    await letIn(page);
    await setPolicy(app, { ask: [{ tools: ["Bash"] }] });
    const created = matrx(page, "terminal_create");
    await answer(page, "Allow once");
    await page.getByText("An AI's call waits for approval").waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    expect(await created).toMatchObject({ failed: true, code: "CANCELLED" });
  });

  test("cancels on the machine what the AI no longer wants", async () => {
    const { page } = await open();
    await letAct(page);
    const answered = page.evaluate<string>(`(async () => {
      const leaving = new AbortController();
      window.leave = () => leaving.abort();
      const [tool] = (await document.modelContext.getTools()).filter(({ name }) => name === "terminal_execute");
      return await document.modelContext.executeTool(tool, { command: "sleep 1000" }, { signal: leaving.signal })
        .catch(({ name }) => name);
    })()`);
    await expectOnScreen(page, /sleep 1000$/);
    await page.evaluate("window.leave()");
    expect(await answered).toMatch(/AbortError|CANCELLED/);
    await expectOnScreen(page, INTERRUPTED);
  });

  test("says so when the machine goes offline in the middle, and does not wait for it", async () => {
    const { page } = await open();
    await letAct(page);
    const running = matrx(page, "terminal_execute", { command: "sleep 1000" });
    await expectOnScreen(page, /sleep 1000$/);
    if (app.machine.agent.pid) process.kill(app.machine.agent.pid, "SIGKILL");
    await app.machine.agent.stop();
    expect(await running).toMatchObject({ failed: true, code: "DEVICE_OFFLINE", hint: expect.any(String) });
    expect(await matrx(page, "file_list", { path: "/" })).toMatchObject({ code: "DEVICE_OFFLINE" });
  });
});

describe("a machine's page for scripts", { ...NEEDS_CHROMIUM, timeout: 120_000 }, () => {
  const app = startTerminalApp();

  test("has the same tools in a browser without WebMCP, which ask the same", async () => {
    const { page, faults } = await app.open(`/d/${app.machine.id}/terminal`);
    await untilOffered(page);
    expect(await page.evaluate("Object.keys(window.matrx).sort()")).toEqual(NAMES);
    expect(await page.evaluate("document.modelContext")).toBeUndefined();
    const denied = matrx(page, "terminal_list");
    await answer(page, "Deny");
    expect(await denied).toMatchObject({ failed: true, code: "APPROVAL_DENIED", hint: expect.any(String) });
    await page.reload();
    await letAct(page);
    expect(await matrx(page, "terminal_execute", { command: "echo hi" })).toEqual({
      ...{ output: "hi\n", exit_code: 0, terminal_id: 1 },
    });
    await expectOnScreen(page, /[$#] echo hi\nhi\n/);
    expect(faults).toEqual([]);
  });
});
