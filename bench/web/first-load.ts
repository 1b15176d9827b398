/** What a page loaded, by kind, as it came over the wire. */
import type { Loaded } from "./lighthouse.ts";

export interface Kind {
  readonly kind: string;
  readonly files: number;
  readonly kib: number;
}

/** Largest first. */
export function kindsOf(loaded: readonly Loaded[]): Kind[] {
  const kinds = Map.groupBy(loaded, ({ resourceType = "Other" }) => resourceType);
  return [...kinds]
    .map(([kind, files]) => ({ kind, files: files.length, kib: kibOf(files) }))
    .toSorted((a, b) => b.kib - a.kib);
}

export function kibOf(files: readonly Loaded[]): number {
  return files.reduce((sum, { transferSize = 0 }) => sum + transferSize, 0) / 1024;
}

/** The largest of them: name and KiB. */
export function largest(loaded: readonly Loaded[], most: number): { name: string; kib: number }[] {
  return loaded
    .map((one) => ({ name: nameOf(one.url), kib: kibOf([one]) }))
    .toSorted((a, b) => b.kib - a.kib)
    .slice(0, most);
}

/** Without what changes from build to build. */
function nameOf(url: string): string {
  const { pathname } = new URL(url);
  return pathname.replace(/-[\w-]{7}(?=\.\w+$)/, "");
}
