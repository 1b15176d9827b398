/** The desktop of Windows, by PowerShell. Never run: no Windows machine was at hand. */
import path from "node:path";
import type { DesktopCommands, LaunchCommand, MonitorChoice } from "../platform.ts";
import { windowsClipboard } from "./clipboard.ts";
import { powershellArguments, powershellLiteral, systemPowershell, windowsArgument } from "./powershell.ts";

const HANDED_OVER_MS = 10_000;

export const windowsDesktop: DesktopCommands = {
  hasDisplay: () => true,
  isDisplayThere: () => true,
  displayHint: "Start the agent as the user who is signed in at the screen",
  blankHint:
    "the agent probably runs as a service (session 0), which has no screen of its own, or the screen is locked",

  openers: (target, env) => [start(env, target, [])],

  launchers: (app, args, env) => [start(env, app, args)],

  cameras: (monitor, env) => [
    {
      program: systemPowershell(env),
      argsFor: (file, format) => powershellArguments(shot(monitor, file, format)),
    },
  ],

  clipboards: (env) => [windowsClipboard(env)],

  handlerPlaces(env, home) {
    const inHome = ["AppData", "Documents\\PowerShell", "Documents\\WindowsPowerShell", "Desktop"];
    const { APPDATA, LOCALAPPDATA, ProgramData } = env;
    return [
      ...inHome.map((name) => path.win32.join(home, name)),
      ...[APPDATA, LOCALAPPDATA, ProgramData].filter((folder) => folder !== undefined),
      ...foldersIn(env.PATH ?? env.Path),
    ];
  },

  /** A class id as extension makes Windows load the program that is registered for it. */
  isMoreThanFolder: (name) => /.\.[^.]+$/.test(name),
};

function foldersIn(searchPath = ""): string[] {
  return searchPath.split(";").filter(path.win32.isAbsolute);
}

/** The arguments are one text: `-ArgumentList` puts no quotes around those that need them. */
function start(env: NodeJS.ProcessEnv, target: string, args: readonly string[]): LaunchCommand {
  const list = args.map(windowsArgument).join(" ");
  const script = [
    "$ProgressPreference = 'SilentlyContinue'",
    "$ErrorActionPreference = 'Stop'",
    `Start-Process -FilePath ${powershellLiteral(target)}${list && ` -ArgumentList ${powershellLiteral(list)}`}`,
  ].join("\n");
  return {
    program: systemPowershell(env),
    args: powershellArguments(script),
    watchMs: HANDED_OVER_MS,
    handsOver: true,
    // Apart it would have no console, without which PowerShell does not begin; what it starts lives on by itself.
    detached: false,
  };
}

function shot(monitor: MonitorChoice, file: string, format: "png" | "jpeg"): string {
  const chosen =
    monitor === undefined
      ? "[Windows.Forms.Screen]::PrimaryScreen"
      : typeof monitor === "number"
        ? `[Windows.Forms.Screen]::AllScreens[${monitor}]`
        : `([Windows.Forms.Screen]::AllScreens | Where-Object DeviceName -eq ${powershellLiteral(monitor)})`;
  return [
    "$ErrorActionPreference = 'Stop'",
    "Add-Type -AssemblyName System.Windows.Forms, System.Drawing",
    `$area = ${chosen}.Bounds`,
    "$picture = New-Object Drawing.Bitmap $area.Width, $area.Height",
    "$pen = [Drawing.Graphics]::FromImage($picture)",
    "$pen.CopyFromScreen($area.Location, [Drawing.Point]::Empty, $area.Size)",
    `$picture.Save(${powershellLiteral(file)}, [Drawing.Imaging.ImageFormat]::${format === "jpeg" ? "Jpeg" : "Png"})`,
  ].join("\n");
}
