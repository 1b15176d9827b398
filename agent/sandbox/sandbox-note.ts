/** What a command could not know about its sandbox, where its output looks like a fault of the machine. */
import { isIn } from "./paths.ts";
import type { SandboxRules } from "./rules.ts";

/** Of the output's end, in characters: a fault is said last. */
const LOOKED_AT = 4000;
const SHOWN = 5;

const NO_NETWORK =
  /could not resolve|couldn't resolve|name resolution|name or service not known|nodename nor servname|unknown host|EAI_AGAIN|ENOTFOUND|network is unreachable|ENETUNREACH|response 403|no route to host/i;
const READ_ONLY = /read-only file system|EROFS/i;
const NO_FILE = /no such file|cannot access|does not exist|can't cd|cannot open|ENOENT/i;
const ABSOLUTE = /(?<=^|[\s'"‘`:(=])\/[^\s'"’`:,;()]+/g;
/** Of the system, by their usual names. */
const ALWAYS = ["/bin", "/sbin", "/lib", "/lib64", "/usr", "/etc", "/proc", "/dev", "/sys", "/run"];

/** Says what the grant opens; undefined if the output complains of nothing that the sandbox closes. */
export function sandboxNote(output: string, rules: SandboxRules): string | undefined {
  const end = output.slice(-LOOKED_AT);
  return joined([networkNote(end, rules), folderNote(end, rules, "commands of this grant")]);
}

/** The same of a read-only command. */
export function readerNote(output: string, rules: SandboxRules): string | undefined {
  const end = output.slice(-LOOKED_AT);
  return joined([
    READ_ONLY.test(end) ? "With read_only, nothing but /tmp is writable" : undefined,
    NO_NETWORK.test(end) ? "With read_only, there is no network" : undefined,
    folderNote(end, rules, "read-only commands"),
  ]);
}

function joined(notes: readonly (string | undefined)[]): string | undefined {
  return notes.filter((note) => note !== undefined).join("; ") || undefined;
}

function networkNote(text: string, { network }: SandboxRules): string | undefined {
  if (!NO_NETWORK.test(text)) return undefined;
  if (network.length === 0) return "This grant opens no domains: its commands reach no network";
  return `This grant opens only these domains, by HTTP: ${listed(network)}`;
}

/** Tells nothing of what is there: a folder that is closed and one that is missing are told alike. */
function folderNote(
  text: string,
  { granted, readable, writable }: SandboxRules,
  whose: string,
): string | undefined {
  const here = [...readable, ...writable, ...ALWAYS];
  const missing = text
    .split("\n")
    .filter((line) => NO_FILE.test(line))
    .flatMap((line) => line.match(ABSOLUTE) ?? [])
    .find((path) => !here.some((folder) => isIn(path, folder)));
  if (missing === undefined) return undefined;
  if (isIn(missing, "/tmp")) return `${missing} is not here: /tmp is empty for each command`;
  return `${missing} is not here, whether or not the machine has it: ${whose} see only the system's programs and ${listed(granted) || "no folder"}`;
}

function listed(all: readonly string[]): string {
  const more = all.length > SHOWN ? ` and ${all.length - SHOWN} more` : "";
  return `${all.slice(0, SHOWN).join(", ")}${more}`;
}
