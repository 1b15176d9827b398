/** Conditional requests and ranges of files (RFC 9110, sections 13 and 14). */

/** What a file's headers say of its present version. */
export interface Version {
  /** Without quotes; a strong validator. */
  readonly etag?: string | undefined;
  /** Milliseconds since 1970. */
  readonly modified: number;
}

/** A part of a file, in bytes. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** Headers that make a request depend on the file's version. */
export const CONDITIONS = [
  "If-Match",
  "If-None-Match",
  "If-Modified-Since",
  "If-Unmodified-Since",
  "If-Range",
  "Range",
] as const;

/** Headers of a request, or those of them that make it depend on the file's version. */
interface Conditions {
  get(name: (typeof CONDITIONS)[number]): string | null;
}

/** Whether the file must be looked at before the request can be answered. */
export function isConditional(headers: Conditions): boolean {
  return CONDITIONS.some((name) => headers.get(name) !== null);
}

/** 304 or 412 if the conditions of a GET or HEAD say so; undefined if it is to be answered as usual (section 13.2.2). */
export function preconditionStatus(headers: Conditions, version: Version): 304 | 412 | undefined {
  const [ifMatch, ifNoneMatch] = [headers.get("If-Match"), headers.get("If-None-Match")];
  if (ifMatch !== null) {
    if (!lists(ifMatch, version, "strong")) return 412;
  } else if (isNewerThan(version, headers.get("If-Unmodified-Since"))) return 412;
  if (ifNoneMatch !== null) return lists(ifNoneMatch, version, "weak") ? 304 : undefined;
  return isNewerThan(version, headers.get("If-Modified-Since")) === false ? 304 : undefined;
}

/**
 * The one range that a GET asks for. `whole`: there is none, there are several, it is not understood, or `If-Range` names
 * another version. `none`: it lies behind the end (416).
 */
export function rangeOf(headers: Conditions, version: Version, size: number): ByteRange | "whole" | "none" {
  const range = headers.get("Range");
  const [, first, last] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/.exec(range ?? "") ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return "whole";
  if (!isStill(headers.get("If-Range"), version)) return "whole";
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "none" : { offset: size - length, length };
  }
  const offset = Number(first);
  if (last !== "" && Number(last) < offset) return "whole";
  if (offset >= size) return "none";
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  return { offset, length: end - offset };
}

/** Whether a list of entity tags names this version. A weak one never matches strongly. */
function lists(text: string, { etag }: Version, comparison: "strong" | "weak"): boolean {
  if (text.trim() === "*") return true;
  if (etag === undefined) return false;
  return [...text.matchAll(/(W\/)?"([^"]*)"/g)].some(
    ([, weak, tag]) => tag === etag && (comparison === "weak" || !weak),
  );
}

/** Whether the file was changed after a date; undefined if that is no date. Dates have whole seconds. */
function isNewerThan({ modified }: Version, date: string | null): boolean | undefined {
  const at = date === null ? Number.NaN : Date.parse(date);
  return Number.isNaN(at) ? undefined : Math.floor(modified / 1000) * 1000 > at;
}

/** `If-Range` is one strong entity tag. A date never proves that the file is the same: it may change twice in a second. */
function isStill(ifRange: string | null, { etag }: Version): boolean {
  return ifRange === null || (etag !== undefined && ifRange.trim() === `"${etag}"`);
}
