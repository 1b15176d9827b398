/** A tool on several machines: selected, checked, run, each told on its own line, and none made twice. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { callViewSchema, deviceToolsSchema } from "../../shared/api.ts";
import { processesOf } from "../e2e/processes.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { expectNoObjections, type Opened, SCREENS, type Screen, smallTargets, startApp } from "./app.ts";
import { startFleet } from "./fleet.ts";

const UNTIL_GO = "until [ -e go ]; do sleep 0.05; done";

describe("a tool on several machines", NEEDS_CHROMIUM, () => {
  const app = startApp();
  const fleet = startFleet(app);
  let folder: string;

  beforeEach(() => {
    folder = makeFolder();
    return async () => {
      letGo();
      await expect.poll(() => processesOf(folder)).toEqual([]);
      removeFolder(folder);
    };
  });

  const letGo = () => writeFileSync(join(folder, "go"), "");
  const lines = (file: string) => readFileSync(join(folder, file), "utf8").trim().split("\n");
  const ids = (...machines: string[]) => `machines=${machines.join(",")}`;
  const bothAt = (tool: string) => `/fleet/run/${tool}?${ids(fleet.attic.id, fleet.cellar.id)}`;
  const chosen = (page: Page) => page.getByRole("region", { name: "Machines", exact: true });
  const batch = (page: Page) => page.getByRole("region", { name: / on \d machines?$/ }).first();
  const said = (page: Page) => batch(page).getByRole("status").first();
  const line = (page: Page, machine: string) =>
    batch(page).getByRole("listitem", { name: machine, exact: true });
  const dialog = (page: Page) => page.getByRole("dialog");

  /** Opens the page for both, fills a command in, and runs it. */
  async function bash(command: string, options: { screen?: Screen } = {}): Promise<Opened> {
    const opened = await app.open(bothAt("Bash"), options);
    const { page } = opened;
    await page.getByLabel("Command").fill(`cd '${folder}'; ${command}`);
    await page.getByRole("button", { name: "Run on 2 machines" }).click();
    await dialog(page).getByRole("button", { name: "Run on 2 machines" }).click();
    return opened;
  }

  test("machines are selected with the keyboard, a tool that only reads runs on them, and all results are saved", async () => {
    const { page, faults } = await app.open("/fleet");
    await page.getByLabel("Select attic").focus();
    await page.keyboard.press("Space");
    await page.getByLabel("Select cellar").focus();
    await page.keyboard.press("Space");
    const bar = page.getByRole("region", { name: "Selected machines" });
    await bar.getByText("2 machines selected").waitFor();
    await bar.getByRole("link", { name: "Run a tool on these" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/fleet\/run\?machines=/);
    await page.getByRole("heading", { name: "Run a tool on 2 machines" }).waitFor();
    await page.getByLabel("Filter tools").fill("systeminfo");
    await page.getByRole("link", { name: /^SystemInfo\s*On all 2/ }).waitFor();
    await page.getByLabel("Filter tools").press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Run SystemInfo on 2 machines" }).waitFor();
    await chosen(page).getByText("It can run on all 2 now.").waitFor();
    await page.getByRole("button", { name: "Run on 2 machines" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => said(page).textContent()).toBe("2 done");
    await line(page, "cellar").getByText("Answer of cellar").click();
    await line(page, "cellar").getByRole("group", { name: "Output" }).getByText("hostname:").waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save all as JSON" }).click();
    const saved = await download;
    expect(saved.suggestedFilename()).toMatch(/^SystemInfo-.*\.json$/);
    const results = savedSchema.parse(JSON.parse(readFileSync(await saved.path(), "utf8")));
    expect(results.machines.map(({ machine, state }) => [machine, state])).toEqual([
      ["attic", "done"],
      ["cellar", "done"],
    ]);
    expect(results.machines[1]?.answer?.output).toContain("hostname:");
    expect(faults).toEqual([]);
  });

  test("all that the filter shows are selected; those that can't take it say why, and what is typed stays", async () => {
    const { page, faults } = await app.open("/fleet");
    await page.getByLabel("Select all 3 shown").check();
    await page.getByRole("link", { name: "Run a tool on these" }).click();
    await page.getByRole("link", { name: /^Bash\s*On 2 of 3/ }).click();
    await chosen(page).getByText("It can run on 2 of 3 machines now.").waitFor();
    await chosen(page).getByText("Offline: it was never seen.").waitFor();
    await page.getByLabel("Command").fill(`cd '${folder}'; echo x >> runs`);
    await page.getByRole("link", { name: "Select other machines" }).click();
    await page.getByText("3 machines selected").last().waitFor();
    await page.goBack();
    await expect.poll(() => page.getByLabel("Command").inputValue()).toContain("echo x >> runs");
    await page.getByLabel("Command").press("Control+Enter");
    await dialog(page).getByText("Run Bash on 2 machines?").waitFor();
    await dialog(page)
      .getByText(/delete anything that you can on attic and cellar/)
      .waitFor();
    await dialog(page)
      .getByText(/not sent to 1 machine that can't take it now/)
      .waitFor();
    await dialog(page).getByRole("button", { name: "Cancel" }).click();
    await expect.poll(() => page.getByRole("button", { name: "Stop all" }).count()).toBe(0);
    expect(existsSync(join(folder, "runs"))).toBe(false);
    await page.getByRole("button", { name: "Run on 2 machines" }).click();
    await dialog(page).getByRole("button", { name: "Run on 2 machines" }).click();
    await expect.poll(() => said(page).textContent()).toBe("2 done");
    expect(lines("runs")).toHaveLength(2);
    expect(faults).toEqual([]);
  });

  test("one fails while another is slow: each is told on its line, it goes on at other pages, and what failed runs again", async () => {
    const { page, faults } = await bash(`mkdir slow || exit 3; echo begun; ${UNTIL_GO}; echo ended`);
    await batch(page).getByText("Exit code 3", { exact: true }).waitFor();
    await batch(page).getByText("Running", { exact: true }).waitFor();
    await expect.poll(() => batch(page).getByRole("timer").textContent()).toMatch(/^\d+ s$/);
    await batch(page)
      .getByText(/^Output of \w+ so far$/)
      .click();
    await expect.poll(() => page.getByRole("group", { name: "Output so far" }).textContent()).toBe("begun\n");
    await page.getByRole("link", { name: "Select other machines" }).click();
    await page.getByText("Bash runs on 2 machines").waitFor();
    letGo();
    await page.getByText("Bash: 1 done, 1 failed").waitFor();
    await page.getByRole("link", { name: "Bash ran on 2 machines" }).click();
    await expect.poll(() => said(page).textContent()).toBe("1 done, 1 failed");
    rmSync(join(folder, "slow"), { recursive: true });
    await page.getByRole("button", { name: "Run again on 1 that failed" }).click();
    await dialog(page).getByText("Run Bash again on 1 machine?").waitFor();
    await dialog(page).getByRole("button", { name: "Run again on 1 machine" }).click();
    await expect.poll(() => said(page).textContent()).toBe("2 done");
    expect(faults).toEqual([]);
  });

  test("one is stopped with the keyboard, then all, and the focus stays", async () => {
    const { page, faults } = await bash("echo begun; sleep 60; touch late");
    await expect.poll(() => processesOf(folder).length).toBeGreaterThan(1);
    await page.getByRole("button", { name: "Stop Bash on cellar" }).focus();
    await page.keyboard.press("Enter");
    await line(page, "cellar")
      .getByText(/^Stopped after/)
      .waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.ariaLabel")).toBe("cellar");
    await line(page, "attic").getByText("Running", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Stop all" }).click();
    await expect.poll(() => said(page).textContent()).toBe("2 stopped");
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("2 stopped");
    expect(processesOf(folder)).toEqual([]);
    expect(existsSync(join(folder, "late"))).toBe(false);
    expect(faults).toEqual([]);
  });

  test("one that refuses is told with what to do, before it is sent where that is known", async () => {
    onTestFinished(() => fleet.setPolicy(fleet.cellar, {}));
    await fleet.setPolicy(fleet.cellar, { denied_tools: ["Bash"] });
    const { page } = await app.open(bothAt("Bash"));
    await chosen(page)
      .getByText(/^Not allowed: /)
      .waitFor();
    await page.getByRole("button", { name: "Run on 1 machine", exact: true }).waitFor();
    await fleet.setPolicy(fleet.cellar, { denied_paths: [`${folder}/**`] });
    const again = await app.open(bothAt("Write"));
    await again.page.getByLabel("File path").fill(join(folder, "note"));
    await again.page.getByLabel("Content").fill("x");
    await again.page.getByRole("button", { name: "Run on 2 machines" }).click();
    await dialog(again.page).getByText("It changes files on attic and cellar.").waitFor();
    await dialog(again.page).getByRole("button", { name: "Run on 2 machines" }).click();
    await expect.poll(() => said(again.page).textContent()).toBe("1 done, 1 failed");
    await line(again.page, "cellar")
      .getByText(/Failed after/)
      .waitFor();
    await expect.poll(() => line(again.page, "cellar").textContent()).toMatch(/What to do: .*owner/);
    expect(again.faults).toEqual([]);
  });

  test("where a tool takes other input on one machine, that is said, and checked before anything is sent", async () => {
    const { page, faults } = await app.open("/fleet");
    await page.route(`**/v1/devices/${fleet.cellar.id}/tools`, async (route) => {
      const response = await route.fetch();
      const list = deviceToolsSchema.parse(await response.json());
      const properties = { command: { type: "string", maxLength: 5 } };
      const tools = list.tools.map((tool) =>
        tool.name === "Bash" ? { ...tool, input_schema: { type: "object", properties } } : tool,
      );
      await route.fulfill({ response, json: { ...list, tools } });
    });
    await page.getByLabel("Select attic").check();
    await page.getByLabel("Select cellar").check();
    await page.getByRole("link", { name: "Run a tool on these" }).click();
    await page.getByRole("link", { name: /^Bash\s*On all 2/ }).click();
    await page.getByText("Bash is not the same on all of them").waitFor();
    await page.getByLabel("Command").fill(`echo x >> '${folder}/runs'`);
    await chosen(page)
      .getByText(
        "Its version of the tool expects different input. command: It can have at most 5 characters.",
      )
      .waitFor();
    await page.getByRole("button", { name: "Run on 1 machine", exact: true }).click();
    await dialog(page).getByRole("button", { name: "Run on 1 machine" }).click();
    await expect.poll(() => said(page).textContent()).toBe("1 done");
    expect(lines("runs")).toEqual(["x"]);
    expect(faults).toEqual([]);
  });

  test("a call whose answer got lost is made once, and one that may have been made is told as that", async () => {
    const { page } = await app.open(bothAt("Bash"));
    let isFirst = true;
    await page.route(`**/v1/devices/${fleet.attic.id}/tools/Bash`, async (route) => {
      if (!isFirst) return route.continue();
      isFirst = false;
      await route.fetch();
      await route.abort();
    });
    await page.route(`**/v1/devices/${fleet.cellar.id}/tools/Bash`, (route) => route.abort());
    app.renewAfterTest();
    await page.clock.install();
    await page.getByLabel("Command").fill(`echo x >> '${folder}/runs'`);
    await page.getByRole("button", { name: "Run on 2 machines" }).click();
    await dialog(page).getByRole("button", { name: "Run on 2 machines" }).click();
    await line(page, "cellar")
      .getByText(/Making sure that it got the call/)
      .waitFor();
    await line(page, "attic")
      .getByText(/Answered in/)
      .waitFor();
    await expect
      .poll(() => page.clock.fastForward(2_000).then(() => said(page).textContent()))
      .toBe("1 done, 1 not known");
    await line(page, "cellar")
      .getByText(/unclear whether the call was made.*What to do: Check what it changed/)
      .waitFor();
    expect(lines("runs")).toEqual(["x"]);
    await page.getByRole("button", { name: "Run again: Bash on cellar" }).click();
    await dialog(page).getByText("It may have run on cellar already: then it runs twice.").waitFor();
  });

  test("a few are called at once; the others wait, and can be taken out", async () => {
    const { page } = await app.open("/fleet");
    const fakes = ["a", "b", "c", "d", "e", "f"].map((letter) => `fake-${letter}`);
    await page.route(/\/v1\/devices$/, async (route) => {
      const response = await route.fetch();
      const { devices } = devicesSchema.parse(await response.json());
      const own = devices.find(({ id }) => id === fleet.attic.id);
      await route.fulfill({ response, json: { devices: fakes.map((id) => ({ ...own, id, name: id })) } });
    });
    await page.route(/\/v1\/devices\/fake-.\/tools$/, async (route) => {
      const url = route
        .request()
        .url()
        .replace(/fake-./, fleet.attic.id);
      await route.fulfill({ response: await route.fetch({ url }) });
    });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const sent: string[] = [];
    // The cards of the machines ask for their load.
    await page.route(/\/v1\/devices\/fake-.\/tools\/SystemInfo$/, (route) => route.abort());
    await page.route(/\/v1\/devices\/fake-.\/tools\/ListProcesses$/, async (route) => {
      sent.push(route.request().url());
      await released;
      const answer = { type: "success", output: "here" };
      const body = `event: result\ndata: ${JSON.stringify(answer)}\n\n`;
      await route.fulfill({ contentType: "text/event-stream", headers: { "Matrx-Call": "x" }, body });
    });
    await page.reload();
    await page.getByLabel("Select all 6 shown").check();
    await page.getByRole("link", { name: "Run a tool on these" }).click();
    await page.getByLabel("Filter tools").fill("listprocesses");
    await page.getByRole("link", { name: /^ListProcesses/ }).click();
    await page.getByRole("button", { name: "Run on 6 machines" }).click();
    await page.getByText(/2 machines wait for a turn/).waitFor();
    await expect.poll(() => batch(page).getByText("Waiting for its turn").count()).toBe(2);
    expect(sent).toHaveLength(4);
    await page.getByRole("button", { name: "Stop ListProcesses on fake-f" }).click();
    await line(page, "fake-f").getByText("Stopped before it began").waitFor();
    release();
    await expect.poll(() => said(page).textContent()).toBe("5 done, 1 stopped");
    expect(sent).toHaveLength(5);
    await page.unrouteAll({ behavior: "wait" });
  });

  describe("after the page was loaded again", () => {
    const GOES_ON = "It keeps running while you look at other pages.";

    /** On one machine the command has ended, on the other one it runs. */
    async function half(command: string): Promise<Opened> {
      const opened = await bash(`mkdir slow || exit 0; ${command}`);
      await batch(opened.page)
        .getByText(/Answered in/)
        .waitFor();
      await batch(opened.page).getByText("Running", { exact: true }).waitFor();
      return opened;
    }

    const records = "**/v1/devices/*/calls/*";

    test("what runs is followed to its end, with its output from then on, and is made once", async () => {
      const { page, faults } = await half(`echo before; ${UNTIL_GO}; echo after; echo x >> runs; exit 3`);
      await page.reload();
      await batch(page).getByText("Running", { exact: true }).waitFor();
      await expect.poll(() => said(page).textContent()).toBe(GOES_ON);
      await page.getByRole("button", { name: "Running …" }).and(page.locator(":disabled")).waitFor();
      await page.getByRole("link", { name: "Select other machines" }).click();
      // A page that still shows the batch leaves the notice out.
      await page.getByText("Bash runs on 2 machines").waitFor();
      letGo();
      await page.getByText("Bash: 1 done, 1 failed").waitFor();
      await page.getByRole("link", { name: "Bash ran on 2 machines" }).click();
      await expect.poll(() => said(page).textContent()).toBe("1 done, 1 failed");
      await batch(page).getByText("Exit code 3", { exact: true }).waitFor();
      await batch(page)
        .getByRole("listitem")
        .filter({ hasText: "Exit code 3" })
        .getByText(/^Answer of/)
        .click();
      await expect
        .poll(() => page.getByRole("group", { name: "Output", exact: true }).textContent())
        .toBe("before\nafter\n[Exit code 3]");
      expect(lines("runs")).toEqual(["x"]);
      await page.reload();
      await expect.poll(() => said(page).textContent()).toBe("1 done, 1 failed");
      expect(faults).toEqual([]);
    });

    test("what ended while it was closed is told with its answer and its own time; long ones come from the machine", async () => {
      const { page } = await half(`${UNTIL_GO}; seq 1 30000; touch ended`);
      const address = page.url();
      await page.goto("about:blank");
      letGo();
      await expect.poll(() => existsSync(join(folder, "ended"))).toBe(true);
      await expect.poll(() => processesOf(folder)).toEqual([]);
      await page.route(records, async (route) => {
        if (route.request().headers().accept === "text/event-stream") return route.continue();
        const response = await route.fetch();
        const record = callViewSchema.parse(await response.json());
        const finished = new Date(Date.parse(record.created) + 42_000).toISOString();
        await route.fulfill({ response, json: { ...record, finished } });
      });
      await page.goto(address);
      await expect.poll(() => said(page).textContent()).toBe("2 done");
      await batch(page).getByText("Answered in 42.0 s").waitFor();
      await batch(page).getByText(/^1$/).waitFor();
    });

    test("what runs can be stopped", async () => {
      const { page } = await half("sleep 60; touch late");
      await page.reload();
      await batch(page).getByText("Running", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Stop all" }).click();
      await expect.poll(() => said(page).textContent()).toBe("1 done, 1 stopped");
      expect(existsSync(join(folder, "late"))).toBe(false);
    });

    test("what waits for a person still does", async () => {
      onTestFinished(() => fleet.setPolicy(fleet.cellar, {}));
      await fleet.setPolicy(fleet.cellar, { ask: [{ tools: ["Bash"] }] });
      const { page } = await bash("echo x >> runs");
      await line(page, "cellar").getByText("Needs approval").waitFor();
      await page.reload();
      await line(page, "cellar").getByText("Needs approval").waitFor();
      await line(page, "cellar").getByRole("link", { name: "Decide in Activity" }).click();
      await page.getByRole("button", { name: "Allow once" }).click();
      await page.getByText("Bash: 2 done").waitFor();
      expect(lines("runs")).toEqual(["x", "x"]);
    });

    test("the relay is asked until it answers, and only what it does not know is not known", async () => {
      const { page } = await half(UNTIL_GO);
      await page.route(records, (route) => route.abort());
      await page.reload();
      await batch(page).getByText("Can't reach the relay. Asking again for the result …").waitFor();
      await expect.poll(() => said(page).textContent()).toBe(GOES_ON);
      await page.unroute(records);
      const unknown = { status: 404, title: "Not found", code: "NOT_FOUND", detail: "No such call" };
      await page.route(records, (route) => route.fulfill({ status: 404, json: unknown }));
      await expect.poll(() => said(page).textContent()).toBe("1 done, 1 not known");
      await batch(page)
        .getByText(/^The page was closed while it ran, and the relay does not know it any more\. Check what/)
        .waitFor();
    });
  });

  test.each(Object.keys(SCREENS) as Screen[])("the pages have no objections on a %s", async (screen) => {
    const opened = await app.open("/fleet", { screen });
    const { page } = opened;
    await page.getByText("Connected", { exact: true }).waitFor();
    await page.getByLabel("Select all 3 shown").check();
    await page.getByRole("region", { name: "Selected machines" }).waitFor();
    await expectNoObjections(opened);
    if (screen === "phone")
      expect(await smallTargets(page, "main a.mantine-Button-root, main button, main label", 36)).toEqual([]);
    await page.getByRole("link", { name: "Run a tool on these" }).click();
    await page.getByRole("link", { name: /^Bash\s*On 2 of 3/ }).waitFor();
    await expectNoObjections(opened);
    await page.getByRole("link", { name: /^Bash\s*On 2 of 3/ }).click();
    await page.getByLabel("Command").fill(`cd '${folder}'; mkdir slow$RANDOM; echo one two; exit 3`);
    await page.getByRole("button", { name: "Run on 2 machines" }).click();
    await dialog(page).getByRole("button", { name: "Run on 2 machines" }).click();
    await expect.poll(() => said(page).textContent()).toBe("2 failed");
    await line(page, "attic").getByText("Answer of attic").click();
    await expectNoObjections(opened);
    if (screen === "phone")
      expect(await smallTargets(page, "main .mantine-Button-root, main summary", 36)).toEqual([]);
  });

  test("an agent that dies in the middle is back soon, and its answer comes", async () => {
    const { page } = await bash(`echo begun; ${UNTIL_GO}`);
    await expect.poll(() => processesOf(folder).length).toBeGreaterThan(1);
    const { pid } = fleet.cellar.agent;
    if (pid === undefined) throw new Error("the agent does not run");
    process.kill(pid, "SIGKILL");
    letGo();
    await expect.poll(() => said(page).textContent()).toBe("2 done");
  });

  test("a machine that vanishes in the middle is told on its own line, and the others go on", async () => {
    const { page, faults } = await bash(`echo begun; ${UNTIL_GO}`);
    await expect.poll(() => processesOf(folder).length).toBeGreaterThan(1);
    await page.route(/\/v1\/devices$/, async (route) => {
      const response = await route.fetch();
      const { devices } = devicesSchema.parse(await response.json());
      const seen = devices.map((one) => (one.id === fleet.cellar.id ? { ...one, state: "OFFLINE" } : one));
      await route.fulfill({ response, json: { devices: seen } });
    });
    await line(page, "cellar")
      .getByText(/^It is offline now\./)
      .waitFor();
    await fleet.cellar.agent.stop();
    await line(page, "cellar")
      .getByText(/^The agent was stopped\. What it did until then is not undone/)
      .waitFor();
    letGo();
    await expect.poll(() => said(page).textContent()).toBe("1 done, 1 stopped");
    await page.unrouteAll({ behavior: "wait" });
    expect(faults).toEqual([]);
  });
});

const devicesSchema = z.object({ devices: z.array(z.looseObject({ id: z.string() })) });
const savedSchema = z.object({
  machines: z.array(
    z.object({ machine: z.string(), state: z.string(), answer: z.object({ output: z.string() }).optional() }),
  ),
});
