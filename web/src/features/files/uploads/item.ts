/** One file on its way to a machine. */
import type { Trouble } from "../../../ui/Problem.tsx";

export type UploadState =
  /** Its turn comes. */
  | "waiting"
  | "running"
  /** The person stopped it. */
  | "paused"
  /** The connection or the machine is gone: it goes on by itself. */
  | "broken"
  /** Something is there already: the person decides. */
  | "asking"
  /** The page was loaded again: the browser has to be given the file once more. */
  | "lost"
  | "failed"
  | "done";

export interface Upload {
  readonly id: string;
  readonly device: string;
  /** Where the person put it. */
  readonly folder: string;
  /** Below that folder, with the folders that came with it. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** In milliseconds. */
  readonly modified: number;
  readonly state: UploadState;
  /** In bytes. */
  readonly sent: number;
  readonly mayReplace: boolean;
  /** It gets a name that is free, after so many that are not. */
  readonly keepBoth?: number | undefined;
  /** Where it goes on, at the relay. */
  readonly url?: string | undefined;
  readonly error?: Trouble | undefined;
}

/** It is neither over nor given up. */
export function isOpen({ state }: Upload): boolean {
  return state !== "done" && state !== "failed";
}

/** It goes on without anybody doing anything. */
export function isGoing({ state }: Upload): boolean {
  return state === "waiting" || state === "running" || state === "broken";
}

/** `report (2).pdf`; the first is as it was. */
export function numbered(name: string, number: number): string {
  if (number < 2) return name;
  const slash = name.lastIndexOf("/") + 1;
  const dot = name.lastIndexOf(".");
  const end = dot > slash ? dot : name.length;
  return `${name.slice(0, end)} (${number})${name.slice(end)}`;
}

/** Tells whether what a tab kept, of whichever release, is as this page needs it. */
export function areUploads(kept: unknown): kept is Upload[] {
  return Array.isArray(kept) && kept.every(isUpload);
}

function isUpload(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { id, device, folder, name, size, modified }: Partial<Record<keyof Upload, unknown>> = value;
  return (
    [id, device, folder, name].every((text) => typeof text === "string") &&
    [size, modified].every((number) => typeof number === "number")
  );
}
