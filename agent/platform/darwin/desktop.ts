/** The desktop of macOS. Never run: no macOS machine was at hand. */
import type { DesktopCommands, LaunchCommand } from "../desktop.ts";

const HANDED_OVER_MS = 5000;

export const darwinDesktop: DesktopCommands = {
  hasDisplay: () => true,
  isDisplayThere: () => true,
  displayHint: "Start the agent as the user who is signed in at the screen",
  blankHint:
    "the program that started the agent probably has no permission: System Settings, Privacy & Security, Screen Recording",

  openers: (target) => [open([target])],

  /** What is to be opened is for `open` itself; after `--args` an application finds it only where it looks for it. */
  launchers(app, args) {
    if (args.length === 0 || args.every((arg) => /^(?:\/|https?:)/i.test(arg)))
      return [open(["-a", app, ...args])];
    return [open(["-a", app, "--args", ...args])];
  },

  cameras(monitor) {
    if (typeof monitor === "string") return [];
    const display = monitor === undefined ? [] : ["-D", String(monitor + 1)];
    return [
      {
        program: "/usr/sbin/screencapture",
        argsFor: (file, format) => ["-x", "-t", format === "jpeg" ? "jpg" : "png", ...display, file],
      },
    ];
  },

  /** Programs and their parts are folders with an extension, which the Finder runs or installs. */
  isMoreThanFolder: (name) => /.\.[^.]+$/.test(name),
};

function open(args: readonly string[]): LaunchCommand {
  return { program: "/usr/bin/open", args, watchMs: HANDED_OVER_MS, handsOver: true, detached: true };
}
