/** Refusals that more than one place gives. */
import { MatrxError } from "@matrx/shared/errors.ts";

export function unknownDevice(id: string): MatrxError {
  return new MatrxError({
    code: "UNKNOWN_DEVICE",
    message: `There is no device ${id.slice(0, 64)}`,
    hint: "GET /v1/devices lists yours; `matrx up` adds this machine",
    hop: "relay",
  });
}
