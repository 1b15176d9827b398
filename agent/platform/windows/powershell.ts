/** Words for PowerShell, so that no quoting can go wrong. Never run: no Windows machine was at hand. */
import path from "node:path";

/** The 5.1 that comes with every Windows. */
export function systemPowershell(env: NodeJS.ProcessEnv): string {
  const root = env.SystemRoot ?? "C:\\Windows";
  return path.win32.join(root, "System32", "WindowsPowerShell", "v1.0", "powershell.exe");
}

/** Arguments that run a script. `-EncodedCommand` takes UTF-16LE in base64. */
export function powershellArguments(script: string): string[] {
  const encoded = Buffer.from(script, "utf16le").toString("base64");
  return [
    "-NoLogo",
    "-NoProfile",
    "-NonInteractive",
    "-ExecutionPolicy",
    "Bypass",
    "-EncodedCommand",
    encoded,
  ];
}

/** A literal of the language: it takes the typographic quotes for its own, too. */
export function powershellLiteral(text: string): string {
  return `'${text.replace(/['\u2018-\u201b]/g, "$&$&")}'`;
}

/** One argument of a command line as Windows programs take it apart. */
export function windowsArgument(text: string): string {
  if (text !== "" && !/[\s"]/.test(text)) return text;
  return `"${text.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, "$&$&")}"`;
}
