/** Who waits for a call: a caller's socket or a held REST request. */
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import type { Effect } from "@matrx/shared/effects.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import type { CallId, DeviceId } from "@matrx/shared/ids.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import { readAnswer } from "../link/device-answer.ts";

export interface Recipient {
  /** The call is admitted, and has this name and this deadline (milliseconds since 1970). Told before all else. */
  accepted(call: CallId, deadline: number, effect: Effect): void;
  /** The caller's socket; REST has none. */
  readonly socket?: WebSocket | undefined;
  /** The answer will bear another's id: it is readdressed, and live output does not come. */
  follow(): void;
  /**
   * The answer as the device wrote it; `body` belongs to the frame and is not kept. `missed` frames of live output were
   * left out before it.
   */
  result(header: ResultHeader, body: Uint8Array, missed: number): void;
  /** Live output, after `missed` frames were left out. False: this one is left out too, the recipient reads too slowly. */
  output(body: Uint8Array, missed: number): boolean;
  refuse(error: ErrorShape, call: CallId): void;
  /** REST: after this time (milliseconds since 1970) the caller is sent away with the call's name. */
  readonly waitsUntil?: number | undefined;
  /** REST: so many milliseconds were spent on waiting until the caller reads. */
  waitLonger?(ms: number): void;
  sendAway(call: CallId): void;
}

const encoder = new TextEncoder();

/** An answer for which its HTTP reader has no room. An effect's outcome is kept under the call. */
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

/** The same answer under another caller's id: an outcome given a second time. */
export function withId(body: Uint8Array, id: string | undefined): Uint8Array {
  const { id: _, ...answer } = readAnswer(body);
  const readdressed: Answer =
    id === undefined ? { ...answer, image: answer.image ?? null } : { id, ...answer };
  return encoder.encode(JSON.stringify(readdressed));
}
