/** What a machine tells is read field by field: an older or newer agent may leave out what another one tells, or tell anything. */

export type Named = Readonly<Record<string, unknown>>;

export function record(value: unknown): Named {
  return typeof value === "object" && value !== null ? (value as Named) : {};
}

/** The first of them: no more than `most`. */
export function list(value: unknown, most: number): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, most) : [];
}

/** Undefined: it is no number. */
export function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** How much or how many there is of something; undefined: it is nothing that can be. */
export function amount(value: unknown): number | undefined {
  const known = number(value);
  return known !== undefined && known >= 0 && known <= Number.MAX_SAFE_INTEGER ? known : undefined;
}

/** Undefined: it is no text. */
export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
