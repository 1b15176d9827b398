/** Families of tools: what a connection or a grant names to choose which tools a model is shown. No right comes with one. */
import { FAMILY_OF } from "./built-in-tools.ts";

/** Families of our agent's own tools, each with what a model finds there. */
const OWN = {
  files: "read, write, find and change files",
  shell: "run commands",
  terminals: "interactive programs in a terminal",
  system: "processes and the system log",
  desktop: "the screen, and opening of files, addresses and applications",
  ports: "connections to ports of the machine",
} as const;

/** `mounted`: all other tools, such as those of mounted MCP servers and of bare devices. */
export const FAMILIES = [...(Object.keys(OWN) as (keyof typeof OWN)[]), "mounted"] as const;
export type Family = (typeof FAMILIES)[number];
export type OwnFamily = keyof typeof OWN;

/** Those in which there is something to show a model: `ports` is for programs. */
export const SHOWN_FAMILIES: readonly Family[] = FAMILIES.filter((family) => family !== "ports");

/** What a model is shown if nobody says otherwise. */
export const DEFAULT_FAMILIES: readonly Family[] = ["files", "shell", "desktop", "mounted"];

export function familyOf(tool: string): Family {
  return Object.hasOwn(FAMILY_OF, tool) ? FAMILY_OF[tool as keyof typeof FAMILY_OF] : "mounted";
}

/** What a family is for, in a few words. */
export function familyWords(family: Family): string {
  return family === "mounted" ? "tools of programs that run there" : OWN[family];
}
