/** What somebody types into a file, kept in this tab until it is saved: through reloads, and through a session that expires. */
import { dropInTab, keepInTab, keptInTab } from "../../../base/tab-store.ts";

export interface Draft {
  readonly text: string;
  /** The version that it began with; empty: there was no such file. */
  readonly base: string;
}

/** False: the browser has no room for it. */
export function keepDraft(device: string, path: string, draft: Draft): boolean {
  return keepInTab(nameOf(device, path), draft);
}

export function dropDraft(device: string, path: string): void {
  dropInTab(nameOf(device, path));
}

export function keptDraft(device: string, path: string): Draft | undefined {
  return keptInTab(nameOf(device, path), isDraft);
}

function nameOf(device: string, path: string): string {
  return `edit:${device}:${path}`;
}

function isDraft(value: unknown): value is Draft {
  if (typeof value !== "object" || value === null) return false;
  const { text, base }: Partial<Record<keyof Draft, unknown>> = value;
  return typeof text === "string" && typeof base === "string";
}
