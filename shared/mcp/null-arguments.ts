/** Calls of clients that send `arguments: null` in place of none, which the library refuses with the report of its parser. */

/** One message, or a batch of them. */
export function withoutNullArguments(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(withoutNullArguments);
  if (!isObject(body) || body.method !== "tools/call" || !isObject(body.params)) return body;
  const { arguments: given, ...params } = body.params;
  return given === null ? { ...body, params } : body;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
