/** How a machine's files and terminals stood together when they were last seen in this browser. */
import { lastKnown, remember } from "../../base/last-known.ts";

/** Where the terminals are. */
export type Side = "right" | "below";

export interface SavedWorkspace {
  /** The terminals were shown. */
  readonly isOpen: boolean;
  readonly side: Side;
  /** The files' part, in percent. */
  readonly shares: Readonly<Record<Side, number>>;
  /** The folder that was shown last, as the address has it. */
  readonly folder: string;
  /** Which of both a phone shows. */
  readonly front: Front;
}

export type Front = "files" | "terminal";

/** In the address, in the place of a side: all of it as it was last. */
const LAST = "last";

/** What the address says shows the terminals. */
export function isShown(value: unknown): value is Side | typeof LAST {
  return isSide(value) || value === LAST;
}

export function isSide(value: unknown): value is Side {
  return value === "right" || value === "below";
}

/** Neither the files nor the terminals get smaller, in percent. */
export const LEAST_SHARE = 20;

const USUAL: SavedWorkspace = {
  ...{ isOpen: false, side: "below", shares: { right: 50, below: 55 } },
  ...{ folder: "", front: "terminal" },
};
/** More is no path. */
const LONGEST_FOLDER = 8_192;

export function savedWorkspace(device: string): SavedWorkspace {
  const { isOpen, side, shares, folder, front } = lastKnown(nameOf(device), isFields)?.value ?? {};
  const { right, below } = isFields(shares) ? shares : {};
  return {
    isOpen: isOpen === true,
    side: isSide(side) ? side : USUAL.side,
    shares: { right: shareOf(right, USUAL.shares.right), below: shareOf(below, USUAL.shares.below) },
    folder: typeof folder === "string" && folder.length <= LONGEST_FOLDER ? folder : USUAL.folder,
    front: front === "files" ? front : USUAL.front,
  };
}

/** Keeps what has changed. The rest stays as another tab of the browser left it. */
export function saveWorkspace(device: string, change: Partial<SavedWorkspace>): void {
  remember(nameOf(device), { ...savedWorkspace(device), ...change });
}

function nameOf(device: string): string {
  return `workspace:${device}`;
}

function shareOf(kept: unknown, usual: number): number {
  return typeof kept === "number" && kept >= LEAST_SHARE && kept <= 100 - LEAST_SHARE ? kept : usual;
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
