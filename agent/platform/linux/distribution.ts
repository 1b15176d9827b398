/** The name of a Linux distribution, as os-release(5) has it. */
import { readFile } from "node:fs/promises";

const FILES = ["/etc/os-release", "/usr/lib/os-release"];

export async function linuxDistribution(files: readonly string[] = FILES): Promise<string | undefined> {
  for (const file of files) {
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text !== undefined) return nameIn(text);
  }
  return undefined;
}

function nameIn(text: string): string | undefined {
  const name = fieldIn("NAME", text);
  const version = fieldIn("VERSION_ID", text);
  return [name, version].filter(Boolean).join(" ") || undefined;
}

/** Values may be quoted as in a shell. */
function fieldIn(field: string, text: string): string | undefined {
  const value = new RegExp(`^${field}=(.*)$`, "m").exec(text)?.[1]?.trim();
  return value?.replace(/^(["'])(.*)\1$/, "$2").replace(/\\(["'$`\\])/g, "$1");
}
