/** The app without the relay between: connected to `matrx serve` on the computer of its browser. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { processesOf } from "../e2e/processes.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { APP, expectFitting, expectNoObjections, smallTargets, startApp } from "./app.ts";
import { anotherProgram, freePort, LocalHome } from "./local-server.ts";

const SETTINGS = "/settings/connection";

describe("this computer, directly", NEEDS_CHROMIUM, () => {
  const app = startApp();
  const origin = () => new URL(app.relay.url).origin;
  const panel = (page: Page) => page.getByRole("region", { name: "Directly to this computer" });
  const isConnected = (page: Page) => panel(page).getByText("Connected directly", { exact: true }).waitFor();
  const answer = (page: Page) => page.getByRole("region", { name: "Answer" });
  const soFar = (page: Page) => page.getByRole("group", { name: "Output so far" });
  const output = (page: Page) => page.getByRole("group", { name: "Output", exact: true });
  const stored = (page: Page) =>
    page.evaluate<string>("JSON.stringify([Object.values(localStorage), Object.values(sessionStorage)])");
  const pill = (page: Page) => page.getByRole("banner").getByRole("link", { name: "Direct", exact: true });

  async function connect(page: Page, address: string, token: string): Promise<void> {
    await panel(page).getByLabel("Address").fill(address);
    await panel(page).getByLabel("Token", { exact: true }).fill(token);
    await panel(page).getByRole("button", { name: "Connect", exact: true }).click();
  }

  /** Goes to the tools without a new load, which would end a connection whose token is not kept. */
  async function goToBash(page: Page): Promise<void> {
    await panel(page).getByRole("link", { name: "Tools of this computer" }).click();
    await page
      .getByRole("link", { name: /^Bash\b/ })
      .first()
      .click();
    await page.getByLabel("Command").waitFor();
  }

  test("is connected with its token, and becomes one of the machines", async () => {
    const home = new LocalHome();
    const { url, port } = await home.serve([origin()]);
    const { page, faults } = await app.open(SETTINGS);
    await expect.poll(() => panel(page).getByLabel("Address").inputValue()).toBe("http://localhost:8000");
    await connect(page, `ws://localhost:${port}/ws`, `Authorization: Bearer ${home.token}\n`);
    await isConnected(page);
    await expect.poll(() => panel(page).getByLabel("Address").inputValue()).toBe(url);
    await pill(page).waitFor();
    await page.getByText("Connected", { exact: true }).waitFor();

    await page.getByRole("link", { name: "Machines" }).first().click();
    const card = page.getByRole("main").getByRole("listitem").filter({ hasText: "This computer" });
    await card.getByText("Direct", { exact: true }).waitFor();
    await card.getByText("Online", { exact: true }).waitFor();
    await card.getByText("Memory", { exact: true }).waitFor();
    await page.getByText("1 of 1 online", { exact: true }).waitFor();

    await card.getByRole("link", { name: "This computer", exact: true }).click();
    await page.getByRole("heading", { name: "This computer", level: 1 }).waitFor();
    await page.getByText(url, { exact: true }).waitFor();
    const picker = page.getByRole("combobox", { name: "Machine" }).first();
    await expect.poll(() => picker.inputValue()).toBe("local");
    await page.getByRole("link", { name: "Permissions" }).first().click();
    await page.getByText(/only the policy file on this computer limits it/).waitFor();
    await picker.selectOption({ label: app.machine.name });
    await page.getByRole("heading", { name: app.machine.name, level: 1 }).waitFor();
    expect(faults).toEqual([]);
  });

  test("runs a tool with its output as it comes; the working folder stays; nothing goes through the relay", async () => {
    const home = new LocalHome();
    const folder = temporaryFolder();
    const { url } = await home.serve([origin()]);
    const { page, faults } = await app.open(SETTINGS);
    await connect(page, url, home.token);
    await isConnected(page);
    await goToBash(page);
    const sent: string[] = [];
    page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
    await page
      .getByLabel("Command")
      .fill(`cd '${folder}'; echo begun; until [ -e go ]; do sleep 0.05; done; exit 3`);
    await page.keyboard.press("Control+Enter");
    await expect.poll(() => soFar(page).textContent()).toBe("begun\n");
    await answer(page).getByText("Bash is running on This computer. It keeps running").waitFor();
    writeFileSync(join(folder, "go"), "");
    await answer(page).getByText("Exit code 3", { exact: true }).waitFor();
    await expect.poll(() => answer(page).getByRole("link", { name: "Its record" }).count()).toBe(0);
    await page.getByLabel("Command").fill("pwd");
    await page.keyboard.press("Control+Enter");
    await expect.poll(() => output(page).textContent()).toContain(folder);
    await page.getByText("Use it from a program").click();
    await expect
      .poll(() => page.getByRole("group", { name: "As curl" }).textContent())
      .toContain(`'${url}/tools/Bash'`);
    expect(sent.filter((address) => address.includes("/tools/"))).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("Stop ends a call with all its processes", async () => {
    const home = new LocalHome();
    const folder = temporaryFolder();
    const { url } = await home.serve([origin()]);
    const { page } = await app.open(SETTINGS);
    await connect(page, url, home.token);
    await isConnected(page);
    await goToBash(page);
    await page.getByLabel("Command").fill(`cd '${folder}'; echo begun; sleep 60 & sleep 60`);
    await page.keyboard.press("Control+Enter");
    await expect.poll(() => soFar(page).textContent()).toBe("begun\n");
    await page.getByRole("button", { name: "Stop Bash on This computer" }).click();
    await answer(page)
      .getByText(/Stopped after/)
      .waitFor();
    expect(processesOf(folder)).toEqual([]);
  });

  test("a call whose connection breaks is made once, and its answer still comes", async () => {
    const home = new LocalHome();
    const folder = temporaryFolder();
    const { url } = await home.serve([origin()]);
    const { page } = await app.open("");
    let cut = () => undefined as unknown;
    await page.routeWebSocket(`${url.replace("http", "ws")}/ws**`, (socket) => {
      const server = socket.connectToServer();
      cut = () => Promise.all([server.close(), socket.close()]);
    });
    await page.goto(`${app.relay.url}${APP}${SETTINGS}`);
    await connect(page, url, home.token);
    await isConnected(page);
    await goToBash(page);
    await page
      .getByLabel("Command")
      .fill(`cd '${folder}'; echo once >> times; until [ -e go ]; do sleep 0.05; done; cat times`);
    await page.keyboard.press("Control+Enter");
    await answer(page).getByText("Bash is running on This computer").waitFor();
    await cut();
    await answer(page).getByText("Connection lost. Asking this computer").waitFor();
    await answer(page).getByText("Bash is running on This computer").waitFor();
    writeFileSync(join(folder, "go"), "");
    await expect.poll(() => output(page).textContent()).toMatch(/^once\n(?!once)/);
  });

  test("a call that runs when the page is loaded again is made once, and its answer still comes", async () => {
    const home = new LocalHome();
    const folder = temporaryFolder();
    const { url } = await home.serve([origin()]);
    const { page, faults } = await app.open(SETTINGS);
    await panel(page).getByLabel("Keep the token in this browser").check();
    await connect(page, url, home.token);
    await isConnected(page);
    await goToBash(page);
    await page
      .getByLabel("Command")
      .fill(`cd '${folder}'; echo once >> times; until [ -e go ]; do sleep 0.05; done; cat times`);
    await page.keyboard.press("Control+Enter");
    await answer(page).getByText("Bash is running on This computer").waitFor();
    await expect.poll(() => existsSync(join(folder, "times"))).toBe(true);
    await page.reload();
    await answer(page).getByText("Bash is running on This computer").waitFor();
    writeFileSync(join(folder, "go"), "");
    await expect.poll(() => output(page).textContent()).toMatch(/^once\n(?!once)/);
    expect(faults).toEqual([]);
  });

  test("a wrong token and none are told apart, and the right one connects", async () => {
    const home = new LocalHome();
    const { url } = await home.serve([origin()]);
    const { page } = await app.open(SETTINGS);
    await connect(page, url, "");
    await panel(page).getByText("The local server asks for its token", { exact: true }).waitFor();
    await connect(page, url, "not-the-token");
    await panel(page).getByText("The local server expects a different token", { exact: true }).waitFor();
    await panel(page)
      .getByText(/prints which file holds the token/)
      .waitFor();
    await connect(page, url, home.token);
    await isConnected(page);
    await expect.poll(() => panel(page).getByRole("status").count()).toBe(1);
    expect(await stored(page)).not.toContain(home.token);
  });

  test("where nothing listens it says how to start the server, and connects by itself once that runs", async () => {
    const home = new LocalHome();
    const port = await freePort();
    const address = `http://localhost:${port}`;
    const { page } = await app.open(SETTINGS);
    await connect(page, address, home.token);
    await panel(page).getByText(`Nothing answers at ${address}`, { exact: true }).waitFor();
    const command = await panel(page).getByRole("group", { name: "Command" }).textContent();
    expect(command).toBe(`matrx serve --port ${port} --allow-origin ${origin()}`);
    await panel(page).getByText("Trying again", { exact: true }).waitFor();
    await home.serve([origin()], port);
    await isConnected(page);
    expect(
      await panel(page)
        .getByText(/Nothing answers/)
        .count(),
    ).toBe(0);
  });

  test("a server that does not take the page says no more than that, and the exact command helps", async () => {
    const home = new LocalHome();
    const server = await home.serve([]);
    const { page, faults } = await app.open(SETTINGS);
    await connect(page, server.url, home.token);
    await panel(page).getByText(`Something listens at ${server.url}, but this page may not read`).waitFor();
    const command = await panel(page).getByRole("group", { name: "Command" }).textContent();
    expect(command).toBe(`matrx serve --port ${server.port} --allow-origin ${origin()}`);
    await server.stop();
    await home.serve([origin()], server.port);
    await isConnected(page);
    expect(faults).toEqual([]);
  });

  test("another program is told as that, and does not get the token", async () => {
    const { url, received } = await anotherProgram();
    const { page } = await app.open(SETTINGS);
    await connect(page, url, "a-secret");
    await panel(page).getByText(`Another program answers at ${url}`, { exact: true }).waitFor();
    expect(received.length).toBeGreaterThan(0);
    expect(JSON.stringify(received)).not.toContain("a-secret");
    await panel(page).getByRole("button", { name: "Disconnect" }).click();
    await panel(page).getByText("Not connected", { exact: true }).waitFor();
  });

  test.each([
    "http://192.168.1.5:8000",
    "https://localhost:8000",
    "http://[::1]:8000",
    "http://a:b@localhost:8000",
  ])("only addresses that the page may reach are taken: not %s", async (address) => {
    const { page, faults } = await app.open(SETTINGS);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await connect(page, address, "");
    await panel(page)
      .getByText(/this page may connect to nothing else/)
      .waitFor();
    await panel(page).getByText("Not connected", { exact: true }).waitFor();
    expect(asked.filter((url) => url.includes(":8000"))).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("with a kept token it connects by itself after a load, and again when the server was restarted", async () => {
    const home = new LocalHome();
    const server = await home.serve([origin()]);
    const { page, faults } = await app.open(SETTINGS);
    await panel(page).getByLabel("Keep the token in this browser").check();
    await connect(page, server.url, home.token);
    await isConnected(page);
    await page.goto(`${app.relay.url}${APP}/d/local/tools/SystemInfo`);
    await pill(page).waitFor();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await output(page).getByText("hostname:").waitFor();

    await server.stop();
    await page.getByText(`Nothing answers at ${server.url}`, { exact: true }).waitFor();
    await page.getByText(/^This computer is not reached now/).waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Run", exact: true }).isDisabled()).toBe(true);
    await home.serve([origin()], server.port);
    await expect.poll(() => page.getByRole("button", { name: "Run", exact: true }).isEnabled()).toBe(true);
    await pill(page).waitFor();

    await page.goto(`${app.relay.url}${APP}${SETTINGS}`);
    await isConnected(page);
    expect(await stored(page)).toContain(home.token);
    await panel(page).getByRole("button", { name: "Disconnect" }).click();
    await panel(page).getByText("Not connected", { exact: true }).waitFor();
    expect(await stored(page)).not.toContain(home.token);
    await page.reload();
    await panel(page).getByText("Not connected", { exact: true }).waitFor();
    await expect.poll(() => pill(page).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("whoever signs out leaves neither token nor connection", async () => {
    const home = new LocalHome();
    const { url } = await home.serve([origin()]);
    const { page } = await app.openAlone(SETTINGS);
    await panel(page).getByLabel("Keep the token in this browser").check();
    await connect(page, url, home.token);
    await isConnected(page);
    await page.getByRole("link", { name: /^Account/ }).click();
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
    await expect.poll(() => stored(page)).not.toContain(home.token);
    const [, code] = (await app.relay.signInLink()).split("#");
    await page.goto(`${app.relay.url}${APP}${SETTINGS}#${code}`);
    await panel(page).getByText("Not connected", { exact: true }).waitFor();
  });

  test.each(["desktop", "phone"] as const)("there is nothing to object to on a %s", async (screen) => {
    const home = new LocalHome();
    const { url } = await home.serve([origin()]);
    const opened = await app.open(SETTINGS, { screen });
    const { page } = opened;
    await page.getByText("Connected", { exact: true }).waitFor();
    await expectFitting(opened);
    await connect(page, `http://localhost:${await freePort()}`, "");
    await panel(page)
      .getByText(/^Nothing answers at/)
      .waitFor();
    await expectNoObjections(opened);
    if (screen === "phone")
      expect(await smallTargets(page, "main button, main .mantine-Input-input", 36)).toEqual([]);
    await panel(page).getByRole("button", { name: "Disconnect" }).click();
    await panel(page).getByLabel("Keep the token in this browser").check();
    await connect(page, url, home.token);
    await isConnected(page);
    await expectNoObjections(opened);
    for (const path of [
      "/fleet",
      "/d/local",
      "/d/local/permissions",
      "/d/local/calls/x",
      "/d/local/tools/Bash",
    ]) {
      await page.goto(`${app.relay.url}${APP}${path}`);
      await pill(page).waitFor();
      await page.getByText("Connected", { exact: true }).waitFor();
      await page.locator("#page-title").waitFor();
      if (path.endsWith("Bash")) await page.getByLabel("Command").waitFor();
      await expectNoObjections(opened);
    }
  });
});

describe("this computer, while the relay is away", NEEDS_CHROMIUM, () => {
  const app = startApp();

  test("is there as before", async () => {
    const home = new LocalHome();
    const { url } = await home.serve([new URL(app.relay.url).origin]);
    const { page, faults } = await app.open(SETTINGS, { workers: true });
    await page.getByLabel("Address").fill(url);
    await page.getByLabel("Token", { exact: true }).fill(home.token);
    await page.getByLabel("Keep the token in this browser").check();
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText("Connected directly", { exact: true }).waitFor();
    await page.evaluate("navigator.serviceWorker.ready");
    await page.reload();
    await page.waitForFunction("navigator.serviceWorker.controller !== null");
    await page.getByText("Connected directly", { exact: true }).waitFor();
    await app.machine.agent.stop();
    await app.relay.stop();
    await page.goto(`${app.relay.url}${APP}/d/local/tools/SystemInfo`);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("group", { name: "Output", exact: true }).getByText("hostname:").waitFor();
    await page.getByText("Can't reach the relay", { exact: true }).waitFor();
    await page.getByRole("banner").getByRole("link", { name: "Direct", exact: true }).waitFor();
    expect(faults).toEqual([]);
  });
});
