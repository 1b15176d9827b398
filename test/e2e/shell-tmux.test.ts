/** `matrx shell` as people use it in tmux: vim, htop and less draw on the whole screen behind relay and agent. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { MATRX_BIN } from "../../scripts/matrx-bin.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { needs } from "../helpers/parts.ts";
import { callerArgs, testFolder } from "./forwarding.ts";
import { stopWithHolder } from "./holders.ts";
import { type Rig, startRig } from "./rig.ts";

const POLL = { timeout: 20_000, interval: 50 };
const PROGRAMS = ["tmux", "vim", "htop", "less"];
const folders = (process.env.PATH ?? "").split(":");
const lacks = PROGRAMS.filter((program) => !folders.some((folder) => existsSync(join(folder, program))));
const NEEDS_TMUX = needs(
  lacks.length === 0,
  `matrx shell is tried with ${lacks.join(", ")}: apt install ${PROGRAMS.join(" ")}`,
);

let rig: Rig;
let home: string | undefined;

beforeAll(async () => {
  // What the user's own shell and editor do when they start is none of a test's business.
  home = makeFolder();
  vi.stubEnv("HOME", home);
  rig = await startRig();
});
afterAll(async () => {
  if (rig) await stopWithHolder(rig);
  if (home) removeFolder(home);
  vi.unstubAllEnvs();
});

/** A pane of a tmux of its own in which `matrx shell` runs. */
class Pane {
  readonly #socket = join(testFolder(), "tmux");

  constructor() {
    const { home, args } = callerArgs(rig);
    const words = [process.execPath, MATRX_BIN, "shell", rig.device, ...args]
      .map((word) => `'${word}'`)
      .join(" ");
    const command = `MATRX_HOME='${home}' MATRX_PROTECTED='${home}' ${words}`;
    this.#tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", command);
    onTestFinished(() => void this.#tmux("kill-server"));
  }

  get screen(): string {
    return this.#tmux("capture-pane", "-p");
  }

  type(...keys: string[]): void {
    this.#tmux("send-keys", ...keys);
  }

  resize(cols: number, rows: number): void {
    this.#tmux("resize-window", "-x", String(cols), "-y", String(rows));
  }

  async sees(text: string | RegExp): Promise<void> {
    await expect.poll(() => this.screen, POLL).toMatch(text);
  }

  #tmux(...words: string[]): string {
    return execFileSync("tmux", ["-S", this.#socket, ...words], { encoding: "utf8" });
  }
}

test("vim edits, htop follows the size, less pages, and each gives the screen back", {
  ...NEEDS_TMUX,
  timeout: 90_000,
}, async () => {
  const pane = new Pane();
  pane.type("echo be''fore", "Enter");
  await pane.sees(/^before$/m);

  const file = join(rig.folder, "edited.txt");
  pane.type(`vim -u NONE ${file}`, "Enter");
  await pane.sees(/^~$/m);
  pane.type("ihello from vim", "Escape", ":wq", "Enter");
  await pane.sees(/^before$/m);
  expect(readFileSync(file, "utf8")).toBe("hello from vim\n");

  pane.type("htop", "Enter");
  await pane.sees(/F10 ?Quit/);
  pane.resize(120, 40);
  // The last row of a larger screen.
  await expect.poll(() => pane.screen.split("\n")[39], POLL).toMatch(/F10 ?Quit/);
  pane.type("q");
  await pane.sees(/^before$/m);

  pane.type(`seq 1 500 > ${file}; less ${file}`, "Enter");
  await pane.sees(/^39$/m);
  pane.type("G");
  await pane.sees(/^500$/m);
  pane.type("?250", "Enter");
  await pane.sees(/^250$/m);
  pane.type("q");
  await pane.sees(/^before$/m);
});
