/** Answers that callers get otherwise than the device wrote them. */
import type { CallApproval } from "@matrx/shared/approval.ts";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import type { DeviceId } from "@matrx/shared/ids.ts";
import { readAnswer } from "./device-answer.ts";

const encoder = new TextEncoder();

/** The refusal of an answer that its HTTP reader has no room for. An effect's outcome is kept under the call. */
export function readsTooSlowly(call: string, device: DeviceId): ErrorShape {
  const url = `/v1/devices/${device}/calls/${call}`;
  return {
    code: "OUTCOME_UNKNOWN",
    message: "The call has ended, but too much is already waiting for you: you read too slowly",
    hint: `Read what is waiting. If the call changed something, its outcome is at GET ${url}; a read can simply be repeated`,
    hop: "relay",
    details: { url },
  };
}

/** The answer to a call whose input a person changed before allowing it: its caller must not take it for its own call's. */
export function withApproval(body: Uint8Array, { id }: CallApproval): Uint8Array {
  const answer = readAnswer(body);
  const approval = { id, edited: true, note: "The owner changed the input before allowing this call" };
  return encoder.encode(JSON.stringify({ ...answer, metadata: { ...answer.metadata, approval } }));
}

/** The same answer under another caller's id, for an outcome that is delivered again. */
export function withId(body: Uint8Array, id: string | undefined): Uint8Array {
  const { id: _, ...answer } = readAnswer(body);
  const readdressed: Answer =
    id === undefined ? { ...answer, image: answer.image ?? null } : { id, ...answer };
  return encoder.encode(JSON.stringify(readdressed));
}
