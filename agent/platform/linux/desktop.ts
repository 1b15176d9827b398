/** The desktop of Linux: X11 or Wayland, and the tools of freedesktop.org. */
import type { Camera, DesktopCommands, LaunchCommand, MonitorChoice } from "../platform.ts";
import { linuxClipboards } from "./clipboard.ts";
import { linuxHandlerPlaces } from "./handler-places.ts";

/** An opener without a desktop around it stays for as long as the browser runs. */
const OPENER_MS = 1000;
const APP_MS = 300;

export const linuxDesktop: DesktopCommands = {
  hasDisplay: (env) => Boolean(env.DISPLAY || env.WAYLAND_DISPLAY),
  isDisplayThere: ({ DISPLAY, WAYLAND_DISPLAY, XDG_RUNTIME_DIR }, exists) =>
    [x11Socket(DISPLAY), waylandSocket(WAYLAND_DISPLAY, XDG_RUNTIME_DIR)].some(
      (socket) => socket !== undefined && (socket === ELSEWHERE || exists(socket)),
    ),
  displayHint:
    "Start the agent in the desktop session, or give it that session's DISPLAY (and XAUTHORITY) or WAYLAND_DISPLAY",
  blankHint: "perhaps nothing is shown there, or the screen is off or locked",

  openers: (target) => [
    opener("xdg-open", [target]),
    opener("gio", ["open", target]),
    // Windows Subsystem for Linux.
    opener("wslview", [target]),
  ],

  launchers(app, args, _env, hasEntry) {
    const entry = app.replace(/\.desktop$/, "");
    const byEntry = launcher("gtk-launch", ["--", entry, ...args], true);
    const byName = launcher(app, args, false);
    if (app.includes("/")) return [byName];
    return hasEntry(entry) ? [byName, byEntry] : [byName];
  },

  cameras: (monitor, env) => (env.WAYLAND_DISPLAY ? onWayland(monitor) : onX11(monitor, env.DISPLAY ?? "")),

  clipboards: linuxClipboards,

  handlerPlaces: linuxHandlerPlaces,

  isMoreThanFolder: () => false,
};

/** No socket of this machine, so whether it answers is not known before it is asked. */
const ELSEWHERE = "";

/** Undefined: none is named. */
function x11Socket(display: string | undefined): string | undefined {
  if (!display) return undefined;
  if (display.startsWith("/")) return display;
  const local = /^(?:unix)?:(\d+)(?:\.\d+)?$/.exec(display);
  return local ? `/tmp/.X11-unix/X${local[1]}` : ELSEWHERE;
}

function waylandSocket(display: string | undefined, folder: string | undefined): string | undefined {
  if (!display) return undefined;
  if (display.startsWith("/")) return display;
  return folder ? `${folder}/${display}` : ELSEWHERE;
}

function opener(program: string, args: readonly string[]): LaunchCommand {
  return { program, args, watchMs: OPENER_MS, handsOver: true, detached: true };
}

function launcher(program: string, args: readonly string[], handsOver: boolean): LaunchCommand {
  return { program, args, watchMs: handsOver ? OPENER_MS : APP_MS, handsOver, detached: true };
}

/** `grim` is for compositors such as sway; the other two ask GNOME or KDE, and take the whole desktop only. */
function onWayland(monitor: MonitorChoice): Camera[] {
  if (typeof monitor === "number") return [];
  const output = monitor === undefined ? [] : ["-o", monitor];
  const grim: Camera = {
    program: "grim",
    argsFor: (file, format) => ["-t", format, ...output, file],
  };
  return monitor === undefined ? [grim, ...WHOLE_DESKTOP] : [grim];
}

function onX11(monitor: MonitorChoice, display: string): Camera[] {
  if (monitor !== undefined) return [];
  const ffmpeg: Camera = {
    program: "ffmpeg",
    argsFor: (file, format) => [
      ...["-nostdin", "-loglevel", "error", "-f", "x11grab", "-draw_mouse", "0", "-i", display],
      ...["-frames:v", "1", "-update", "1", ...(format === "jpeg" ? ["-q:v", "5"] : []), "-y", file],
    ],
  };
  return [ffmpeg, ...WHOLE_DESKTOP];
}

const WHOLE_DESKTOP: readonly Camera[] = [
  { program: "gnome-screenshot", argsFor: (file) => ["-f", file] },
  { program: "spectacle", argsFor: (file) => ["-b", "-n", "-f", "-o", file] },
];
