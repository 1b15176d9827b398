/** Composes the question that a person decides on: from what the tool says, and from what is at the paths. */
import type { Effect } from "@matrx/shared/effects.ts";
import {
  QUESTION_CHARS,
  type Question,
  questionSchema,
  visibleLine,
  visibleText,
} from "@matrx/shared/question.ts";
import type { PathState } from "./approved-state.ts";
import type { CommandPreview, Preview } from "./preview.ts";
import { addressWarnings, textWarnings } from "./suspicious-text.ts";

export interface Asked {
  readonly tool: string;
  readonly effect: Effect;
  /** Tools whose work it also does. */
  readonly also: readonly string[];
  /** As canonical JSON. */
  readonly input: string;
  readonly paths: readonly PathState[];
  /** Absent: the tool says nothing about its calls. */
  readonly preview: Preview | undefined;
  /** The relay's address, if there is one. */
  readonly relay: string | undefined;
}

/** Parts of a question in bytes of JSON, so that all together fit into a frame. */
const KiB = 1024;
const PART = { command: 64 * KiB, diff: 64 * KiB, input: 48 * KiB, list: 6 * KiB, paths: 20 * KiB } as const;
const PATHS_MAX = 100;
const LINKS_NAMED = 5;
const WARNING_CHARS = 500;
/** As much of each text is searched for what could mislead, in characters. */
const SEARCHED_CHARS = 256 * 1024;

export function questionOf(asked: Asked): Question {
  const { tool, effect, also, preview, paths } = asked;
  const command = preview?.command === undefined ? undefined : cut(preview.command.text, PART.command);
  const diff = preview?.diff === undefined ? undefined : cut(preview.diff, PART.diff);
  const input = cut(asked.input, PART.input);
  const all = paths.map((path) => ({ path: path.path, intent: doneTo(path) }));
  const listed = fitting(all.slice(0, PATHS_MAX), PART.paths);
  return questionSchema.parse({
    summary: preview?.summary ?? [tool, ...paths.map(({ path }) => path)].join(" "),
    tool,
    effect,
    ...(also.length > 0 && { also }),
    ...(paths.length > 0 && { paths: listed }),
    ...(command && preview?.command && { command: { text: command.text, ...surroundings(preview.command) } }),
    ...(diff && { diff: diff.text, ...((diff.isCut || preview?.diffCut) && { diff_cut: true }) }),
    ...(preview?.url !== undefined && { url: preview.url }),
    ...(preview?.app !== undefined && { app: preview.app }),
    input: input.text,
    ...(input.isCut && { input_cut: true }),
    warnings: fitting(warningsOf(asked, command?.isCut ?? false, listed.length), PART.list * 2),
  });
}

/** Where a command runs, and what it can reach. */
function surroundings({ cwd, sandbox }: CommandPreview): Omit<NonNullable<Question["command"]>, "text"> {
  if (!sandbox) return { cwd, sandbox: false };
  const [readable, writable, network] = [sandbox.readable, sandbox.writable, sandbox.network].map((items) =>
    fitting(items, PART.list),
  );
  return { cwd, sandbox: true, readable, writable, network };
}

function doneTo({ intent, kind }: PathState): string {
  if (intent === "folder") return "create the folder";
  if (intent !== "write") return intent;
  return kind === "missing" ? "create" : "change";
}

function warningsOf(
  { preview, paths, input, relay }: Asked,
  isCommandCut: boolean,
  listed: number,
): string[] {
  const { command, diff, url, app, summary } = preview ?? {};
  const texts = [input, command?.text, diff, app, summary, ...paths.map(({ path }) => path)];
  const warnings = [
    ...(isCommandCut
      ? [
          `The command has ${command?.text.length} characters, and its middle is not shown: allow it only if you know it`,
        ]
      : []),
    ...(url === undefined ? [] : url.split(" ").flatMap((one) => addressWarnings(one, relay))),
    ...(paths.length > listed ? [`${paths.length - listed} more paths are not listed`] : []),
    ...textWarnings(texts.flatMap((text) => text?.slice(0, SEARCHED_CHARS) ?? [])),
    ...paths
      .filter(leadsElsewhere)
      .slice(0, LINKS_NAMED)
      .map(({ named, path }) => `${named} leads to ${path}`),
    ...(preview?.warnings ?? []),
  ];
  return warnings.map((warning) => visibleLine(warning, WARNING_CHARS));
}

/** By a link; a folder's other spelling or a missing part also counts. */
function leadsElsewhere({ named, path }: PathState): boolean {
  return named !== path;
}

/** The beginning and end of a text that fit, with what could mislead written out. */
function cut(text: string, maxBytes: number): { text: string; isCut: boolean } {
  const bounded = text.length > 2 * maxBytes ? `${text.slice(0, maxBytes)}${text.slice(-maxBytes)}` : text;
  const visible = visibleText(bounded.toWellFormed());
  const isWhole = bounded === text && jsonBytes(visible) <= maxBytes && visible.length <= QUESTION_CHARS.text;
  if (isWhole) return { text: visible, isCut: false };
  const [head, tail] = [headOf(visible, maxBytes * 0.7), tailOf(visible, maxBytes * 0.2)];
  return { text: `${head}\n[... not all of it is shown ...]\n${tail}`, isCut: true };
}

function headOf(text: string, maxBytes: number): string {
  let head = text.slice(0, maxBytes);
  while (jsonBytes(head) > maxBytes) head = head.slice(0, Math.floor(head.length * 0.8));
  return head.toWellFormed();
}

function tailOf(text: string, maxBytes: number): string {
  let tail = text.slice(-Math.floor(maxBytes));
  while (jsonBytes(tail) > maxBytes) tail = tail.slice(Math.ceil(tail.length * 0.2));
  return tail.toWellFormed();
}

/** As many items as fit; texts of people's machines are short, those of attackers need not be. */
function fitting<Item>(items: readonly Item[], maxBytes: number): Item[] {
  let bytes = 0;
  return items.filter((item) => {
    bytes += Math.min(jsonBytes(item), QUESTION_CHARS.field * 3);
    return bytes <= maxBytes;
  });
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
