/** The recycle bin, by PowerShell 5.1, which every Windows has. Written from documents, not run. */
import type { TrashWay } from "../platform.ts";
import { powershellArguments, powershellLiteral, systemPowershell } from "./powershell.ts";

export const windowsTrash: TrashWay = {
  by: "program",
  command: (target, isFolder, env) => ({
    file: systemPowershell(env),
    args: powershellArguments(script(target, isFolder)),
  }),
};

/** Where a drive has no recycle bin (network, removable), the call would delete for good: there it is not made. */
function script(target: string, isFolder: boolean): string {
  return [
    "$ErrorActionPreference = 'Stop'",
    `$path = ${powershellLiteral(target)}`,
    "$drive = [IO.DriveInfo]::new([IO.Path]::GetPathRoot($path))",
    "if ($drive.DriveType -ne 'Fixed') { [Console]::Error.Write('this drive has no recycle bin'); exit 3 }",
    "Add-Type -AssemblyName Microsoft.VisualBasic",
    `[Microsoft.VisualBasic.FileIO.FileSystem]::Delete${isFolder ? "Directory" : "File"}(` +
      "$path, 'OnlyErrorDialogs', 'SendToRecycleBin', 'ThrowException')",
  ].join("\n");
}
