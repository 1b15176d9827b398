/** Why a port of this machine is not for calls. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";

export function ownPortError(port: number): MatrxError {
  return toolError(
    "PERMISSION_DENIED",
    `Matrx itself listens on port ${port} of this device, so nobody is connected to it`,
    {
      hint: "Call the relay, or the local server, directly",
      details: { port },
    },
  );
}
