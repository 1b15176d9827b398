/** What is known of a call whose Device object broke before it answered, as objects do when their storage fails. */
import type { CallView } from "@matrx/shared/api.ts";
import type { WantedCall } from "@matrx/shared/caller/port.ts";
import { effectOfCall, toolNameOf } from "@matrx/shared/effects.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import type { Caller } from "../auth/caller.ts";
import type { Device } from "../device/device.ts";
import type { Env } from "../env.ts";
import type { Outcome } from "../outcome.ts";
import { errorShapeOf } from "../problem.ts";
import { outcomeUnknown } from "../refusals.ts";
import type { StorageState } from "../storage-failure.ts";

/** An effect is sent only once its record is durable: without a record it did not run; with one, the record holds the outcome. */
export async function brokenCall(
  env: Env,
  device: DurableObjectStub<Device>,
  caller: Caller,
  { call, tool, input }: Pick<WantedCall, "call" | "tool" | "input">,
  error: unknown,
): Promise<ErrorShape> {
  const failure = errorShapeOf(error);
  if (effectOfCall(toolNameOf(tool), () => JSON.parse(input)) === "read" || neverBegan(failure))
    return failure;
  if (await hasRecord(env, device, caller, call))
    return outcomeUnknown(device.id.name ?? "", call, "The relay failed while the call was running");
  if (failure.code === "UNAVAILABLE") return failure;
  const message = "The relay failed before it sent the call: nothing ran";
  return { ...failure, code: "UNAVAILABLE", message, hint: "Send it again" };
}

/** The object did not start, because a newer program wrote its data: nothing ran. */
function neverBegan({ details }: ErrorShape): boolean {
  return details?.storage === ("newer" satisfies StorageState);
}

/** Also true when that cannot be determined. */
async function hasRecord(
  env: Env,
  device: DurableObjectStub<Device>,
  caller: Caller,
  call: WantedCall["call"],
): Promise<boolean> {
  try {
    // The stub of a broken object stays broken.
    const again = env.DEVICE.get(device.id);
    const record = (await again.readCall(caller, call)) as Outcome<CallView>;
    return record.ok || record.error.code !== "NOT_FOUND";
  } catch {
    return true;
  }
}
