/** The input of a call as a person typed it. */

/** Throws Error that says what is wrong. */
export function inputObject(text: string): Record<string, unknown> {
  const value = parsed(text);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error("The input must be a JSON object, such as {}.");
  return value as Record<string, unknown>;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The input is not valid JSON: ${error instanceof Error ? error.message : error}`);
  }
}
