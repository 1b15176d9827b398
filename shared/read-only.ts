/** Which calls of `Bash` only read. Relay, agent and pages must read an input alike, so they all ask here. */

/** The JSON value `true` alone counts, under this very name, in the input as its caller sent it. */
export function isReadOnlyCommand(tool: string, input: Readonly<Record<string, unknown>>): boolean {
  return tool === "Bash" && Object.hasOwn(input, "read_only") && input.read_only === true;
}
