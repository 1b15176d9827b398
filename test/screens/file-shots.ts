/** Pictures of the page of files. */
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { Household } from "./household.ts";

const inProject =
  (rest = "") =>
  ({ machines, project }: Household) =>
    `/d/${machines.studio}/files${project}${rest}`;

async function openMenu(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Actions for notes.txt" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).waitFor();
}

/** Of a machine that asks nobody before it opens a terminal. */
const withTerminal =
  (rest: string) =>
  ({ machines, project }: Household) =>
    `/d/${machines.nas}/files${project}${rest}`;

/** A command in a new terminal beside the files. */
async function openTerminal(page: Page): Promise<void> {
  const terminals = page.getByRole("region", { name: "Terminals" });
  await terminals.getByRole("button", { name: "New terminal" }).click();
  await terminals.locator(".xterm-rows").getByText(/[$#]/).first().waitFor();
  await terminals.locator(".xterm-helper-textarea").first().focus();
  await page.keyboard.type("clear; seq 3");
  await page.keyboard.press("Enter");
  await terminals.locator(".xterm-rows").getByText("3", { exact: true }).waitFor();
}

export interface Shot {
  readonly name: string;
  /** Who looks at it; the owner if nothing else is said. */
  readonly who?: "friend" | "nobody";
  /** Begins with a slash, or with `#` at the door. */
  readonly path: (home: Household) => string;
  /** Until the page shows what the picture is about. */
  readonly until?: (page: Page, home: Household) => Promise<unknown>;
  /** Takes back what was done for the picture. */
  readonly after?: (home: Household) => Promise<void>;
  /** What may stand in the console. */
  readonly mayFail?: RegExp;
}

export const FILE_SHOTS: readonly Shot[] = [
  { name: "files", path: inProject(), until: (page) => page.getByText("package.json").first().waitFor() },
  {
    name: "file-text",
    path: inProject("/src?file=water.ts"),
    until: (page) => page.locator("[data-kind=keyword]").first().waitFor(),
  },
  {
    name: "file-markdown",
    path: inProject("?file=README.md"),
    until: (page) => page.getByRole("heading", { name: "Garden" }).waitFor(),
  },
  {
    name: "file-edit",
    path: inProject("?file=package.json&edit=true"),
    until: (page) => page.locator(".tok-propertyName").first().waitFor(),
  },
  { name: "files-terminal-below", path: withTerminal("?terminal=below"), until: openTerminal },
  {
    name: "files-terminal-right",
    path: withTerminal("/src?file=water.ts&terminal=right"),
    until: openTerminal,
  },
  { name: "files-menu", path: inProject(), until: openMenu },
  {
    name: "files-share",
    path: inProject(),
    until: async (page) => {
      await openMenu(page);
      await page.getByRole("menuitem", { name: "Share a link" }).click();
      await page.getByText("It works for").waitFor();
    },
  },
  {
    name: "files-upload",
    path: inProject(),
    until: async (page, { project }) => {
      const files = ["notes.txt", "README.md"].map((name) => join(project, name));
      await page.getByLabel("Files to upload").setInputFiles(files);
      await page.getByText("is already there").waitFor();
      await page.getByRole("button", { name: "Details" }).click();
    },
    mayFail: /409/,
  },
];
