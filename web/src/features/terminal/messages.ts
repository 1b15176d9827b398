/** What a terminal's stream tells (docs/protocol.md), and the lists of terminals: read with care, for other agents may be newer. */

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

export interface Viewer {
  readonly label: string;
  readonly write: boolean;
}

export type TerminalMessage =
  | ({ readonly type: "attached" } & Size & {
        readonly sequence: number;
        readonly snapshot: boolean;
        readonly snapshot_bytes: number;
      })
  | ({ readonly type: "resized" } & Size)
  | { readonly type: "viewers"; readonly viewers: readonly Viewer[] }
  | { readonly type: "gap"; readonly from: number; readonly to: number };

type Fields = Readonly<Record<string, unknown>>;

/** Undefined: this page does not know it. */
export function terminalMessage(message: Fields): TerminalMessage | undefined {
  const { type, cols, rows, sequence, snapshot, from, to, viewers } = message;
  const { snapshot_bytes = 0 } = message;
  switch (type) {
    case "attached":
      if (!isCount(sequence) || !isCells(cols) || !isCells(rows) || !isCount(snapshot_bytes))
        return undefined;
      return { type, cols, rows, sequence, snapshot: snapshot === true, snapshot_bytes };
    case "resized":
      return isCells(cols) && isCells(rows) ? { type, cols, rows } : undefined;
    case "gap":
      return isCount(from) && isCount(to) && from <= to ? { type, from, to } : undefined;
    case "viewers":
      if (!Array.isArray(viewers)) return undefined;
      return { type, viewers: viewers.filter(isFields).map(viewerOf) };
    default:
      return undefined;
  }
}

function viewerOf({ label, write }: Fields): Viewer {
  return { label: String(label), write: write === true };
}

/** A terminal that is open on the machine. */
export interface OpenTerminal {
  readonly terminal: string;
  readonly name: string | undefined;
  /** Not another caller's, such as an AI's. */
  readonly own: boolean;
  readonly shell: string;
  readonly cwd: string;
  readonly title: string;
  /** What runs in it; undefined: it waits at its prompt. */
  readonly foreground: string | undefined;
  readonly started: string;
  readonly viewers: number;
  readonly recorded: boolean;
}

/** Longer lists are cut. */
const MOST_LISTED = 256;

/** Those of a `TerminalList` that still run. */
export function openTerminals(metadata: unknown): OpenTerminal[] {
  const list = isFields(metadata) && Array.isArray(metadata.terminals) ? metadata.terminals : [];
  return list
    .slice(0, MOST_LISTED)
    .filter(isFields)
    .flatMap((one) => {
      const { terminal, own = true, viewers, running, recorded } = one;
      if (typeof terminal !== "string" || running !== true) return [];
      return {
        ...{ terminal, own: own === true, name: textOf(one.name), shell: textOf(one.shell) ?? "shell" },
        ...{ cwd: textOf(one.cwd) ?? "", title: textOf(one.title) ?? "", foreground: textOf(one.foreground) },
        ...{ started: textOf(one.started) ?? "", viewers: isCount(viewers) ? viewers : 0 },
        recorded: recorded === true,
      };
    });
}

/** What `TerminalCreate` made. */
export interface CreatedTerminal {
  readonly terminal: string;
  /** That of its shell. */
  readonly name: string;
}

/** Undefined: it can't be read. */
export function createdTerminal(metadata: unknown): CreatedTerminal | undefined {
  if (!isFields(metadata) || typeof metadata.terminal !== "string") return undefined;
  return { terminal: metadata.terminal, name: shellName(textOf(metadata.shell) ?? "shell") };
}

/** Such as `bash`. */
export function shellName(file: string): string {
  return file.split(/[\\/]/).at(-1) || file;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isCells(value: unknown): value is number {
  return isCount(value) && value >= 1 && value <= 1000;
}
