/** Machines in the app: the list, one of them, its name and tags, and saying goodbye to it. */
import { describe, expect, test } from "vitest";
import { createdDeviceSchema, deviceListSchema } from "../../shared/api.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { APP, expectNoObjections, SCREENS, startApp } from "./app.ts";

const HOSTILE = `<img src=x onerror="document.title='owned'"><b>x</b>`;

describe("machines", NEEDS_CHROMIUM, () => {
  const app = startApp();

  test("are listed with state, load and proof, and lead to their tools", async () => {
    const { page, faults } = await app.open("/settings");
    app.renewAfterTest();
    await page.clock.install();
    await page.goto(`${app.relay.url}${APP}/fleet`);
    await page.getByText("1 of 1 online").waitFor();
    await page.getByText("Online", { exact: true }).waitFor();
    await page
      .getByText(/^\d+%$/)
      .first()
      .waitFor();
    await page.clock.fastForward(10_000);
    await page.getByText(/Proven .*: SystemInfo answered in \d+ ms/).waitFor();
    await page.getByRole("link", { name: `Tools of ${app.machine.name}` }).click();
    await page.waitForURL(/\/tools$/);
    expect(faults).toEqual([]);
  });

  test("are renamed, and get tags that filter the list", async () => {
    const owner = await app.relay.signIn();
    for (const name of ["attic", "cellar", "garage"])
      await app.relay.request(owner, "POST /v1/devices", createdDeviceSchema, { name });
    const { page, faults } = await app.open("/fleet");
    await page.getByRole("link", { name: "cellar", exact: true }).click();
    await page.getByLabel("Name", { exact: true }).fill("wine cellar");
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("heading", { name: "wine cellar" }).waitFor();
    await page.locator("input").and(page.getByLabel("Tags")).fill("home");
    await page.locator("input").and(page.getByLabel("Tags")).press("Enter");
    await page.getByRole("link", { name: "Machines" }).first().click();
    await page.getByRole("button", { name: "home", exact: true }).click();
    await page.getByRole("link", { name: "wine cellar", exact: true }).waitFor();
    await expect.poll(() => page.getByRole("link", { name: "attic", exact: true }).count()).toBe(0);
    await page.getByRole("button", { name: "home", exact: true }).click();
    await page.getByLabel("Filter machines").fill("gar");
    await page.getByRole("link", { name: "garage", exact: true }).waitFor();
    expect(page.url()).toContain("text=gar");
    await expect.poll(() => page.getByRole("link", { name: "attic", exact: true }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("of the same name are told apart wherever they are named, by their ids", async () => {
    const owner = await app.relay.signIn();
    const make = async (name: string) =>
      (await app.relay.request(owner, "POST /v1/devices", createdDeviceSchema, { name })).device.id;
    const [one, other] = [await make("twin"), await make("Twin")];
    const { page, faults } = await app.open("/fleet");
    await page.getByRole("heading", { name: `twin (${one})`, exact: true }).waitFor();
    await page.getByRole("heading", { name: `Twin (${other})`, exact: true }).waitFor();
    const options = () => page.getByRole("combobox", { name: "Machine" }).textContent();
    await expect.poll(options).toContain(`twin (${one})`);
    await page.goto(`${app.relay.url}${APP}/settings/tokens`);
    await page.getByRole("button", { name: "New token for an AI" }).click();
    await page.getByRole("checkbox", { name: `Twin (${other})` }).waitFor();
    // Its name itself is as it was given, and once it is another one, there is nothing to tell apart.
    await page.goto(`${app.relay.url}${APP}/d/${other}`);
    await page.getByRole("heading", { name: `Twin (${other})`, exact: true }).waitFor();
    await expect.poll(() => page.getByLabel("Name", { exact: true }).inputValue()).toBe("Twin");
    await page.getByLabel("Name", { exact: true }).fill("sister");
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("heading", { name: "sister", exact: true }).waitFor();
    await page.getByRole("link", { name: "Machines" }).first().click();
    await page.getByRole("heading", { name: "twin", exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test("with hostile names are shown as text, and are removed after a question", async () => {
    const owner = await app.relay.signIn();
    const { device } = await app.relay.request(owner, "POST /v1/devices", createdDeviceSchema, {
      name: HOSTILE,
    });
    const { page, faults } = await app.open(`/d/${device.id}`);
    await page.getByRole("heading", { name: HOSTILE }).waitFor();
    await expect.poll(() => page.locator("main img, main b").count()).toBe(0);
    await page.getByRole("button", { name: "Remove this machine" }).click();
    await page.getByRole("dialog").getByText("Its key stops working at once").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Remove it" }).click();
    await page.waitForURL(/\/fleet$/);
    const { devices } = await app.relay.request(owner, "GET /v1/devices", deviceListSchema);
    expect(devices.map(({ id }) => id)).not.toContain(device.id);
    await expect.poll(() => page.title()).toBe("Your machines · Matrx Relay");
    expect(faults).toEqual([]);
  });

  test("are removed with the keyboard alone, while their list changes, and the focus has a place", async () => {
    const owner = await app.relay.signIn();
    const { device } = await app.relay.request(owner, "POST /v1/devices", createdDeviceSchema, {
      name: "spare",
    });
    const { page, faults } = await app.open(`/d/${device.id}`);
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    const dialog = page.getByRole("dialog");
    const ask = async () => {
      await page.keyboard.press("Enter");
      await dialog.getByText("Remove spare? Its key stops working at once").waitFor();
      await expect.poll(focused).toBe("Keep it");
    };
    app.renewAfterTest();
    await page.clock.install();
    await page.reload();
    await page.getByRole("button", { name: "Remove this machine" }).focus();
    await ask();
    // A list that comes while the question stands does not take the button away.
    const list = page.waitForResponse("**/v1/devices");
    await page.clock.fastForward(10_000);
    await list;
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await expect.poll(focused).toBe("Remove this machine");
    await ask();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("spare was removed.").waitFor();
    await page.waitForURL(/\/fleet$/);
    await expect.poll(focused).toBe("Your machines");
    expect(faults).toEqual([]);
  });

  test("an address of none says so", async () => {
    const { page } = await app.open("/d/gone-0123456789");
    await page.getByRole("heading", { name: "No such machine" }).waitFor();
  });

  test.each(Object.keys(SCREENS) as (keyof typeof SCREENS)[])(
    "their pages have no objections on a %s",
    async (screen) => {
      const opened = await app.open("/fleet", { screen });
      const { page } = opened;
      for (const path of ["/fleet", `/d/${app.machine.id}`, `/d/${app.machine.id}/permissions`, "/pair"]) {
        await page.goto(`${app.relay.url}${APP}${path}`);
        await page.getByText("Connected", { exact: true }).waitFor();
        await page.locator("#page-title").waitFor();
        await expectNoObjections(opened);
      }
    },
  );
});
