/** The pages that are pictured, and what is done on each before. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { askToPair } from "../helpers/machine.ts";
import { FILE_SHOTS, type Shot } from "./file-shots.ts";
import { FILES } from "./files.ts";
import type { Household } from "./household.ts";
import { removeMachines } from "./machines.ts";

const text = (wanted: string | RegExp) => (page: Page) => page.getByText(wanted).first().waitFor();
const heading = (name: string) => (page: Page) => page.getByRole("heading", { name }).waitFor();
/** Buttons that decide can't be pressed at once. */
const ready = (name: string) => (page: Page) =>
  page.getByRole("button", { name, exact: true, disabled: false }).waitFor();
const machine = (name: string) => (page: Page) => page.getByRole("link", { name, exact: true }).waitFor();
const ofStudio =
  (rest = "") =>
  ({ machines }: Household) =>
    `/d/${machines.studio}${rest}`;

async function run(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("button", { name: "Run again", exact: true }).waitFor();
  await page.getByRole("button", { name: "Run", exact: true, disabled: false }).waitFor();
}

/** A command run in the project. */
function command(name: string, line: string): Shot {
  return {
    name,
    path: ofStudio("/tools/Bash"),
    until: async (page, { project }) => {
      await page.getByLabel("Command").fill(`cd '${project}' && ${line}`);
      await run(page);
    },
  };
}

const ofNas = ({ machines }: Household) => `/d/${machines.nas}/terminal`;

/** What a script in the page asks of it; nobody waits for the answer. */
async function callByScript(page: Page, call: string): Promise<void> {
  await page.waitForFunction("window.matrx !== undefined");
  await page.evaluate(`void matrx.${call}.catch(() => undefined)`);
}

/** A new terminal, with its prompt. */
function terminal(name: string, show: NonNullable<Shot["until"]>): Shot {
  return {
    name,
    path: ofNas,
    until: async (page, home) => {
      await page.getByRole("button", { name: "New terminal" }).click();
      await page.locator(".xterm-rows").getByText(/[$#]/).first().waitFor();
      await page.locator(".xterm-helper-textarea").first().focus();
      await show(page, home);
    },
  };
}

const settings = (part: string, until: Shot["until"]): Shot => ({
  name: `settings-${part}`,
  path: () => `/settings/${part}`,
  ...(until && { until }),
});

export const SHOTS: readonly Shot[] = [
  { name: "fleet", path: () => "/fleet", until: machine("laptop") },
  { name: "machine", path: ofStudio(), until: text("Recent calls") },
  {
    name: "machine-events",
    path: ({ machines }) => `/d/${machines.greenhouse}`,
    until: text("Low disk space"),
  },
  { name: "activity", path: () => "/activity", until: ready("Allow once") },
  { name: "needs-you", path: () => "/activity?show=needs-you", until: ready("Allow once") },
  { name: "errors", path: () => "/activity?show=errors", until: text("Bash") },
  {
    name: "call-record",
    path: ({ machines, changing }) => `/d/${machines.studio}/calls/${changing}`,
    until: text("MINUTES = 12"),
  },
  { name: "tools", path: ofStudio("/tools"), until: text("ListDirectory") },
  { name: "tool-form", path: ofStudio("/tools/Grep"), until: (page) => page.getByLabel("Pattern").waitFor() },
  {
    name: "tool-table",
    path: ofStudio("/tools/ListDirectory"),
    until: async (page, { project }) => {
      await page.getByLabel("Path").first().fill(project);
      await run(page);
    },
  },
  command("tool-json", "cat package.json"),
  command(
    "tool-ansi",
    String.raw`printf '\033[32m✔ waters the tomatoes\033[0m (12 ms)\n\033[31m✘ closes the valve\033[0m\n  \033[1mexpected\033[0m closed, \033[33mgot open\033[0m\n'`,
  ),
  command("tool-error", "cat src/pump.ts"),
  {
    name: "tool-diff",
    path: ofStudio("/tools/Edit"),
    until: async (page, { project }) => {
      const file = join(project, "notes.txt");
      writeFileSync(file, FILES["notes.txt"]);
      await page.getByLabel("File path").fill(file);
      await page.getByLabel("Old string").fill("pump");
      await page.getByLabel("New string").fill("pumps and the pump");
      await run(page);
    },
  },
  {
    name: "many",
    path: ({ machines }) => `/fleet/run/Grep?machines=${machines.studio},${machines.nas},${machines.laptop}`,
    until: text("It can run on 2 of 3 machines now."),
  },
  {
    name: "many-results",
    path: ({ machines }) => `/fleet/run/SystemInfo?machines=${machines.studio},${machines.nas}`,
    until: async (page) => {
      await page.getByRole("button", { name: "Run on 2 machines" }).click();
      await page.getByText("2 done", { exact: true }).waitFor();
    },
  },
  { name: "terminal-start", path: ofNas, until: text("New terminal") },
  terminal("terminal", async (page, { project }) => {
    await page.keyboard.type(
      `clear; cd '${project}' && ls -l --color=always && echo '# see https://example.com/valves'`,
    );
    await page.keyboard.press("Enter");
    await page.locator(".xterm-rows").getByText("https://example.com/valves").last().waitFor();
  }),
  terminal("terminal-split", async (page) => {
    for (const name of ["Split to the right", "Split downwards"]) {
      const button = page.getByRole("button", { name });
      const panes = await page.locator(".xterm").count();
      // A phone has no room for it.
      if (!(await button.isVisible())) continue;
      await button.click();
      await page.locator(".xterm").nth(panes).waitFor();
    }
    await page.getByRole("button", { name: "New terminal" }).click();
    await page.getByRole("tab").nth(1).waitFor();
    await page.getByRole("tab").first().click();
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await page.getByLabel("Search in the terminal").fill("root");
  }),
  terminal("terminal-ended", async (page) => {
    await page.keyboard.type("exit 3");
    await page.keyboard.press("Enter");
    await page.getByText("Ended with exit code 3").waitFor();
  }),
  terminal("terminal-settings", async (page) => {
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: "Settings and keys" }).click();
  }),
  terminal("terminal-list", async (page) => {
    await page.getByRole("button", { name: "Open terminals" }).click();
    await page.getByRole("list", { name: "Open on this machine" }).waitFor();
  }),
  terminal("ai-question", async (page) => {
    await callByScript(page, "terminal_list({})");
    await page.getByRole("button", { name: "Also run commands, asking each time" }).click();
    await callByScript(
      page,
      "terminal_execute({ command: 'rsync -a --delete photos/ /mnt/backup/photos/' })",
    );
    await page.getByRole("button", { name: "Allow once" }).waitFor();
  }),
  terminal("ai-at-work", async (page) => {
    await callByScript(page, "terminal_list({})");
    await page.getByRole("button", { name: "Look only" }).click();
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
  }),
  {
    name: "monitor",
    path: ofStudio("/monitor"),
    until: async (page) => {
      await page.getByLabel("How often").selectOption("Every second");
      await page.getByText("The last 8 samples as a table").waitFor();
    },
  },
  {
    name: "monitor-processes",
    path: ofStudio("/monitor?view=processes"),
    until: (page) => page.getByRole("row").nth(5).waitFor(),
  },
  {
    name: "monitor-connections",
    path: ofStudio("/monitor?view=connections"),
    until: (page) => page.getByRole("row").nth(5).waitFor(),
  },
  ...FILE_SHOTS,
  { name: "permissions", path: ofStudio("/permissions"), until: text("Who may do what") },
  { name: "pair", path: () => "/pair", until: text("Its code") },
  {
    name: "pair-code",
    path: () => "/pair",
    until: async (page) => {
      await page.getByLabel("Code from the machine or command line").fill("abcd");
      await page.getByRole("button", { name: "Look up" }).click();
      await page.getByText("That is no code").waitFor();
    },
  },
  {
    name: "pair-request",
    path: () => "/pair",
    until: async (page, home) => {
      await page.getByLabel("Code from the machine or command line").fill(await home.askToPair());
      await page.getByRole("button", { name: "Look up" }).click();
      await page.getByText("attic.local").waitFor();
    },
  },
  {
    name: "pair-connected",
    path: () => "/pair",
    until: async (page, home) => {
      const asking = await askToPair(home.relay, mkdtempSync(join(home.relay.dataDir, "attic-")), "attic");
      await page.getByLabel("Code from the machine or command line").fill(asking.code);
      await page.getByRole("button", { name: "Look up" }).click();
      await page.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByRole("heading", { name: "attic was added" }).waitFor();
      const agent = await asking.connect();
      await page.getByText("The machine is connected and ready.").waitFor();
      await agent.stop();
    },
    after: ({ relay }) => removeMachines(relay, "attic"),
  },
  { name: "settings", path: () => "/settings" },
  settings("account", heading("Passkeys")),
  settings("tokens", text("nightly backup")),
  {
    name: "settings-token-new",
    path: () => "/settings/tokens",
    until: async (page) => {
      await page.getByRole("button", { name: "New token for an AI" }).click();
      await page.getByLabel("Name", { exact: true }).fill("coding assistant");
    },
  },
  settings("people", text("Clara")),
  {
    name: "settings-share",
    path: () => "/settings/people",
    until: async (page) => {
      await page.getByRole("button", { name: "Share a machine" }).click();
      await page.getByLabel("For whom").fill("Ben");
    },
  },
  settings("record", async (page) => {
    await page.getByRole("button", { name: "Verify the record" }).click();
    await page.getByText(/^In order: /).waitFor();
  }),
  settings("notifications", heading("This browser")),
  settings("connection", heading("Connection")),
  settings("appearance", text("Colours")),
  settings("shortcuts", text("Search or run")),
  settings("about", heading("About")),
  {
    name: "palette",
    path: () => "/fleet",
    until: async (page) => {
      await page.getByRole("button", { name: "Search or run" }).click();
      await page.getByRole("combobox", { name: "Search or run" }).fill("tools");
    },
  },
  {
    name: "shortcut-help",
    path: () => "/fleet",
    until: async (page) => {
      await machine("laptop")(page);
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "confirm",
    path: ofStudio(),
    until: async (page) => {
      await page.getByRole("button", { name: "Remove this machine" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  { name: "reference", path: () => "/docs", until: text("/v1/devices") },
  {
    name: "consent",
    path: ({ consent }) => consent,
    until: (page) => page.getByRole("heading", { name: "Connect Garden assistant?" }).waitFor(),
  },
  { name: "not-found", path: () => "/fleet/no/such/page", until: text("There is nothing here") },
  {
    name: "page-error",
    path: () => "/fleet",
    until: async (page) => {
      await page.route(/PairPage-[^/]*\.js$/, (route) => route.abort());
      await page.getByRole("link", { name: "Add a machine" }).last().click();
      await page.getByText("This page could not be shown").waitFor();
    },
    mayFail: /ERR_FAILED|dynamically imported module|reading .PairPage/,
  },
  {
    name: "sign-in",
    who: "nobody",
    path: () => "/fleet",
    until: text("Sign in to Matrx Relay"),
    mayFail: /401/,
  },
  {
    name: "sign-in-waiting",
    who: "nobody",
    path: () => "",
    until: async (page, home) => {
      await page.goto(`${page.url()}#pair=${await home.askToPair()}`);
      await page.getByText("Something is waiting for your approval").waitFor();
    },
    mayFail: /401/,
  },
  {
    name: "invite",
    who: "nobody",
    path: ({ people }) => `#${people.invite}`,
    until: text("You are invited"),
    mayFail: /401/,
  },
  {
    name: "share-offer",
    who: "friend",
    path: ({ people }) => `#${people.share}`,
    until: text("Somebody shares machines with you"),
  },
  { name: "friend-fleet", who: "friend", path: () => "/fleet", until: text("Shared by") },
  { name: "friend-people", who: "friend", path: () => "/settings/people", until: text("Ann") },
];

/** Pages as they look when the relay can no longer be reached. */
export const OFFLINE: readonly Shot[] = [
  { name: "offline-fleet", path: () => "/fleet", until: machine("laptop") },
  { name: "offline-machine", path: ofStudio(), until: text("Recent calls") },
];
