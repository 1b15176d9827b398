/** Which machines are shown. */
import type { DeviceView } from "@matrx/shared/api.ts";

export interface Filter {
  /** Words, each of which must be in its name, system or tags. */
  readonly text: string;
  readonly tag: string | undefined;
}

export function fits({ name, os, hostname, tags = [] }: DeviceView, { text, tag }: Filter): boolean {
  if (tag !== undefined && !tags.includes(tag)) return false;
  const said = [name, os, hostname, ...tags].join(" ").toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => said.includes(word));
}

/** All of their tags, in order. */
export function tagsOf(devices: readonly DeviceView[]): string[] {
  return [...new Set(devices.flatMap(({ tags = [] }) => tags))].sort();
}
