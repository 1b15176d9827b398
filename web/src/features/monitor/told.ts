/** What a machine tells is read field by field: an older or newer agent may leave out what another one tells. */

export type Named = Readonly<Record<string, unknown>>;

export function record(value: unknown): Named {
  return typeof value === "object" && value !== null ? (value as Named) : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Undefined: it is no number. */
export function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Undefined: it is no text. */
export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
