/** Which device the arguments of a call to all devices mean. */
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import { DEVICE } from "@matrx/shared/mcp/tools.ts";

interface Named {
  readonly id: string;
  readonly name: string;
}

/** The id of the one of this name. Never guesses. Throws MatrxError that lists the choices. */
export function deviceMeant(named: string | undefined, devices: readonly Named[]): string {
  const meant = devices.filter(({ name }) => name === named);
  const [only] = meant;
  if (only && meant.length === 1) return only.id;
  if (named === undefined) throw whichDevice("is required", devices);
  const said = JSON.stringify(named);
  if (meant.length > 1) throw whichDevice(`${said} is the name of ${meant.length} devices`, meant);
  throw whichDevice(`${said} is not the name of one of them`, devices);
}

function whichDevice(wrong: string, devices: readonly Named[]): MatrxError {
  const choices = devices.map(({ id, name }) => ({ id, name }));
  const listed = choices.map(({ id, name }) => `${id} (${JSON.stringify(name)})`).join(", ");
  if (devices.length === 0)
    return relayError("INVALID_PARAMETERS", "device: you reach no device", {
      hint: "The owner adds one with `matrx up`, and chooses in the token's rights which devices you reach",
      details: { field: DEVICE, choices },
    });
  return relayError("INVALID_PARAMETERS", `device: ${wrong}`, {
    hint: `Give an id: ${listed}`,
    details: { field: DEVICE, choices },
  });
}
