/** A stream that a call of a tool opens, and that is opened again after a lost connection. */
import type { Opened } from "@matrx/client/transport.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { DeviceLink } from "../relay/streams/device-link.ts";
import { Backoff, isPassing } from "../relay/streams/retry.ts";
import type { Input } from "./call-tool.ts";

/** How a stream stands while nothing comes. */
export type Away =
  | { readonly kind: "connecting" }
  /** A person has to allow it first. */
  | { readonly kind: "asked" }
  /** `isOffline`: the machine is, not the relay; `why`: in words. */
  | { readonly kind: "reconnecting"; readonly isOffline: boolean; readonly why: string }
  /** It will not come by itself. */
  | { readonly kind: "failed"; readonly error: MatrxError };

export interface KeptStream<T> {
  readonly link: Pick<DeviceLink, "open" | "pause">;
  readonly tool: string;
  /** Asked anew each time. */
  readonly input: () => Input;
  /** What the machine may send at most before it is taken, in bytes. */
  readonly credit: number;
  readonly signal: AbortSignal;
  readonly onAway: (away: Away) => void;
  /** Takes what comes, to the stream's end. Resolves to what that means; undefined: it is opened again. Throws MatrxError when it breaks off. */
  readonly take: (opened: Opened) => Promise<T | undefined>;
}

/** Resolves to what its end means; undefined: nobody wants it any more, or it failed. */
export async function keepStream<T>(kept: KeptStream<T>): Promise<T | undefined> {
  const { link, tool, input, credit, signal, onAway, take } = kept;
  const backoff = new Backoff();
  onAway({ kind: "connecting" });
  while (!signal.aborted) {
    try {
      const onApproval = () => onAway({ kind: "asked" });
      const opened = await link.open(tool, input(), { credit, signal, onApproval });
      backoff.opened();
      const end = await take(opened);
      if (signal.aborted || end !== undefined) return end;
      onAway({ kind: "reconnecting", isOffline: false, why: "The machine ended it" });
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!(error instanceof MatrxError)) throw error;
      if (!isPassing(error)) return void onAway({ kind: "failed", error });
      onAway({ kind: "reconnecting", isOffline: error.code === "DEVICE_OFFLINE", why: error.message });
    }
    const isOpen = await link.pause(backoff.next()).then(
      () => true,
      () => false,
    );
    if (!isOpen) return undefined;
  }
  return undefined;
}
