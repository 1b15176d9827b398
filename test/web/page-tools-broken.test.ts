/** Calls of the page's tools that something breaks off: each ends with an error that says what is known. */
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { startRelay } from "../helpers/relay.ts";
import { letAct, letIn, matrx } from "./page-tools.ts";
import { expectOnScreen, startTerminalApp } from "./terminal.ts";

describe("the page's tools, broken off", { ...NEEDS_CHROMIUM, timeout: 120_000 }, () => {
  const dataDir = makeFolder();
  const app = startTerminalApp({ relay: async () => ({ dataDir }) });
  afterAll(() => removeFolder(dataDir));
  const terminalPage = () => `/d/${app.machine.id}/terminal`;

  test("a terminal that was made for a call which was stopped is closed", async () => {
    const owner = await app.relay.signIn();
    const list = `POST /v1/devices/${app.machine.id}/tools/TerminalList` as const;
    const listed = z.object({ metadata: z.object({ terminals: z.array(z.unknown()) }) });
    const terminals = async () => (await app.relay.request(owner, list, listed, {})).metadata.terminals;
    const { page } = await app.open(terminalPage());
    await letAct(page);
    const before = (await terminals()).length;
    const stopped = Promise.withResolvers<void>();
    await page.route("**/tools/TerminalCreate", async (route) => {
      const response = await route.fetch();
      await stopped.promise;
      await route.fulfill({ response });
    });
    const created = matrx(page, "terminal_create");
    await expect.poll(async () => (await terminals()).length).toBe(before + 1);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    expect(await created).toMatchObject({ failed: true, code: "CANCELLED" });
    stopped.resolve();
    await expect.poll(async () => (await terminals()).length).toBe(before);
  });

  test("a session that ends in the middle ends the call", async () => {
    const { page } = await app.open(terminalPage());
    await letAct(page);
    const running = matrx(page, "terminal_execute", { command: "sleep 1000" });
    await expectOnScreen(page, /sleep 1000$/);
    app.renewAfterTest();
    const revoke = "POST /v1/sessions/revoke-others";
    await app.relay.request(await app.relay.signIn(), revoke, z.unknown(), {});
    expect(await running).toMatchObject({
      ...{ failed: true, code: expect.stringMatching(/CANCELLED|UNAUTHENTICATED/), hint: expect.any(String) },
    });
    await page.getByRole("heading", { level: 1, name: "Sign in to Matrx Relay" }).waitFor();
    expect(await page.evaluate("window.matrx")).toBeUndefined();
  });

  test("the line that says who uses the machine makes no page taller than the screen", async () => {
    for (const path of [`/d/${app.machine.id}/files/etc`, terminalPage()]) {
      const { page } = await app.open(path);
      await letIn(page, "Look only");
      await page.getByRole("status").filter({ hasText: "can look at" }).waitFor();
      const beyond = "document.documentElement.scrollHeight - document.documentElement.clientHeight";
      await expect.poll(() => page.evaluate(beyond), { message: path }).toBe(0);
    }
  });

  test("a relay that starts again in the middle leaves no call without an answer", async () => {
    const { page } = await app.open(terminalPage());
    await letAct(page);
    const running = matrx(page, "terminal_execute", { command: "sleep 3; echo over" });
    await expectOnScreen(page, /echo over$/);
    const port = Number(new URL(app.relay.url).port);
    await app.relay.stop();
    const again = await startRelay({ dataDir, port });
    onTestFinished(() => again.stop());
    // The machine may be back later than the page.
    expect([
      { output: "over\n", exit_code: 0, terminal_id: 1 },
      {
        failed: true,
        code: "DEVICE_OFFLINE",
        message: expect.any(String),
        hint: expect.stringContaining("look"),
      },
    ]).toContainEqual(await running);
  });
});
