/** JSON with one form for each value (RFC 8785): members sorted, no white space. For values that `JSON.parse` gives. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  let members = "";
  // Each call in the record passes here: a chain of entries, filter, sort and map takes half as long again.
  for (const name of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    members += `${members && ","}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}
