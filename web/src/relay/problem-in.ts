/** The problem (RFC 9457) in what was answered, for what is not fetched by `api.ts`. */

/** Empty: something else than the relay answered. */
export function problemIn(body: string): object {
  try {
    const problem: unknown = JSON.parse(body);
    return typeof problem === "object" && problem !== null ? problem : {};
  } catch {
    return {};
  }
}
