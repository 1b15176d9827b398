/** What changed in a mounted MCP server, for its owner: each hidden character is written out. */
import { visibleLine, visibleText } from "@matrx/shared/question.ts";
import { diffLines } from "diff";
import { textWarnings } from "../../core/suspicious-text.ts";
import type { MountedServer, ToolChange } from "../client/mounted-servers.ts";

const NAME_CHARS = 300;
const CONTEXT_LINES = 3;
/** With more, all of it is shown as old and new. */
const MOST_CHANGES = 2000;

export function changeLines({ program, tools }: MountedServer): string[] {
  return [
    ...program.map((path) => `Its program has changed: ${visibleLine(path, NAME_CHARS)}`),
    ...tools.flatMap(toolLines),
  ];
}

function toolLines({ tool, change, before, now }: ToolChange): string[] {
  const name = visibleLine(tool, NAME_CHARS);
  const title = change === "new" ? `New tool ${name}` : `Tool ${name} has changed`;
  const [old, fresh] = [membersOf(before), membersOf(now)];
  if (!fresh || (change === "changed" && !old)) return [`${title}: its definition is too long to be shown`];
  const members = [...new Set([...(old?.keys() ?? []), ...fresh.keys()])].filter(
    (member) => old?.get(member) !== fresh.get(member) && member !== "name",
  );
  if (members.length === 0 && change === "changed")
    return [`${title}: callers get it by another name, because of the server's other tools`];
  const warnings = textWarnings([...fresh.values()]).map((warning) => `  Warning: ${warning}`);
  return [
    title,
    ...members.flatMap((member) => [
      `  ${visibleLine(member, NAME_CHARS)}`,
      ...linesOf(old?.get(member) ?? "", fresh.get(member) ?? ""),
    ]),
    ...warnings,
  ];
}

function membersOf(definition: unknown): Map<string, string> | undefined {
  if (typeof definition !== "object" || definition === null) return undefined;
  return new Map(
    Object.entries(definition).map(([member, value]) => [
      member,
      typeof value === "string" ? value : JSON.stringify(value, undefined, 2),
    ]),
  );
}

/** Nothing that changed is left out: what is not seen here could be what a model reads. */
function linesOf(before: string, now: string): string[] {
  const changes = diffLines(before, now, { maxEditLength: MOST_CHANGES }) ?? [
    { value: before, removed: true, added: false },
    { value: now, removed: false, added: true },
  ];
  return changes.flatMap(({ value, added, removed }) => {
    if (value === "") return [];
    const lines = value.replace(/\n$/, "").split("\n").map(visibleText);
    if (added || removed) return lines.map((line) => `    ${added ? "+" : "-"} ${line}`);
    return around(lines).map((line) => `      ${line}`);
  });
}

/** The same before and after. */
function around(lines: readonly string[]): string[] {
  if (lines.length <= 2 * CONTEXT_LINES) return [...lines];
  return [...lines.slice(0, CONTEXT_LINES), "...", ...lines.slice(-CONTEXT_LINES)];
}
