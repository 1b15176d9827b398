/** Programs of a system that some parts of the agent work with, where they are there. macOS and Windows: written from documents, not run. */
import path from "node:path";
import type { Platform } from "./platform.ts";

export interface OptionalPrograms {
  /** Names on the PATH, and absolute paths, best first. */
  readonly browsers: (env: NodeJS.ProcessEnv) => readonly string[];
  /** A command that ends well where a sandbox works; absent: the system has none that we know. */
  readonly sandbox?: { readonly program: string; readonly args: readonly string[]; readonly hint: string };
}

const UNDER_PROGRAM_FILES = [
  ["Google", "Chrome", "Application", "chrome.exe"],
  ["Microsoft", "Edge", "Application", "msedge.exe"],
];

const PROGRAMS: Record<Platform["name"], OptionalPrograms> = {
  Linux: {
    browsers: () => [
      "google-chrome",
      "google-chrome-stable",
      "microsoft-edge",
      "chromium",
      "chromium-browser",
    ],
    sandbox: {
      program: "bwrap",
      args: ["--ro-bind", "/", "/", "--unshare-all", "--die-with-parent", "/bin/true"],
      hint: "Install bubblewrap, and allow unprivileged user namespaces",
    },
  },
  Darwin: {
    browsers: () => [
      "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
      "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
      "/Applications/Chromium.app/Contents/MacOS/Chromium",
    ],
    sandbox: {
      program: "/usr/bin/sandbox-exec",
      args: ["-p", "(version 1)(allow default)", "/usr/bin/true"],
      hint: "sandbox-exec belongs to macOS; it may be forbidden on this machine",
    },
  },
  Windows: {
    browsers: (env) =>
      [env.ProgramFiles, env["ProgramFiles(x86)"], env.LOCALAPPDATA]
        .filter((folder) => folder !== undefined)
        .flatMap((folder) => UNDER_PROGRAM_FILES.map((names) => path.win32.join(folder, ...names))),
  },
};

export function optionalPrograms({ name }: Platform): OptionalPrograms {
  return PROGRAMS[name];
}
