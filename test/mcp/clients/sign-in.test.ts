/** An app that knows nothing but an address lets mcp-remote sign it in: a person chooses on the page, and ends it there. */
import { writeFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { deviceViewSchema } from "../../../shared/api.ts";
import { fileIn, type Rig, startRig } from "../../e2e/rig.ts";
import { NEEDS_CHROMIUM, startBrowser } from "../../helpers/browser.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { allow, asking, deny, signInByPastedLink } from "../../web/asked.ts";
import { NEEDS_STRANGERS } from "../strangers.ts";
import { startMcpRemote } from "./mcp-remote.ts";

/** By what name mcp-remote registers. */
const CLIENT = "MCP CLI Proxy";

describe("mcp-remote signs in", { ...NEEDS_STRANGERS, ...NEEDS_CHROMIUM }, () => {
  let rig: Rig;
  let browser: Browser;
  let deviceName: string;

  beforeAll(async () => {
    rig = await startRig();
    const device = `GET /v1/devices/${rig.device}` as const;
    ({ name: deviceName } = await rig.relay.request({ token: rig.token }, device, deviceViewSchema));
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await rig?.stop();
  });

  async function newPage(): Promise<Page> {
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    return await context.newPage();
  }

  it.each(["legacy", "auto"] as const)("and works until the owner ends it, %s", async (protocol) => {
    const [page, folder] = [await newPage(), temporaryFolder()];
    const start = () => startMcpRemote(`${rig.relay.url}/mcp`, folder, protocol);
    const app = start();

    await page.goto(await app.asked());
    await page.getByText("An app wants to use your machines").waitFor();
    await signInByPastedLink(page, rig.relay);
    await asking(page, CLIENT).waitFor();
    await page.getByLabel(deviceName).check();
    await page.getByLabel("Folders, one a line").fill(rig.folder);
    await page.getByLabel("Name in your list").fill(`proxy ${protocol}`);
    await allow(page).click();
    await page.getByText("Authorization successful!").waitFor();

    await app.connected;
    const { tools } = await app.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["Read", "list_devices"]));
    const [file, unwritten] = [fileIn(rig), fileIn(rig)];
    writeFileSync(file, "from the home machine");
    const reading = { name: "Read", arguments: { device: rig.device, file_path: file } };
    expect(JSON.stringify(await app.client.callTool(reading))).toContain("from the home machine");
    const writing = { device: rig.device, file_path: unwritten, content: "x" };
    const refused = await app.client.callTool({ name: "Write", arguments: writing });
    expect(JSON.stringify(refused)).toContain("PERMISSION_DENIED");

    // The next time it asks nobody.
    await app.close();
    const again = start();
    await again.connected;
    expect(JSON.stringify(await again.client.callTool(reading))).toContain("from the home machine");
    expect(again.unread()).toBe(0);

    await page.goto(`${rig.relay.url}/settings/tokens`);
    await page.getByRole("button", { name: `Revoke proxy ${protocol}` }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke it" }).click();
    await page.getByText(`proxy ${protocol} was revoked.`).waitFor();
    const ended = expect(again.client.callTool(reading)).rejects.toThrow(
      "mcp-remote: Authorization failed: access_denied",
    );
    await page.goto(await again.asked());
    await asking(page, CLIENT).waitFor();
    await deny(page).click();
    await ended;
    expect(again.said()).toContain("Remote server requires authorization");
  });
});
