/** Watches a machine's figures through one stream, and comes back after a lost connection, until nobody wants them. */
import { MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { StreamEnd } from "@matrx/shared/streams/endpoint.ts";
import type { DeviceLink } from "../../relay/streams/device-link.ts";
import { Backoff, isPassing } from "../../relay/streams/retry.ts";
import { type Sample, sampleOf } from "./sample.ts";

export type WatchState =
  | { readonly kind: "connecting" }
  | { readonly kind: "asked" }
  | { readonly kind: "live" }
  /** The stream is open, and nothing comes. */
  | { readonly kind: "silent" }
  | { readonly kind: "reconnecting"; readonly isOffline: boolean }
  /** It will not come by itself. */
  | { readonly kind: "failed"; readonly error: MatrxError };

export interface Watcher {
  onSample(sample: Sample): void;
  onState(state: WatchState): void;
}

interface Wanted {
  readonly link: DeviceLink;
  /** Between two samples, in milliseconds. */
  readonly everyMs: number;
}

const CREDIT = 128 * 1024;
/** A line that is longer is no sample, in characters. */
const LONGEST = 256 * 1024;
/** However often a machine sends them, in milliseconds. */
const APART = 500;
/** So much later than it should, a sample is missed, in milliseconds. */
const LATE = 10_000;

/** Resolves when `signal` is aborted, or no samples will come. */
export async function watch(wanted: Wanted, watcher: Watcher, signal: AbortSignal): Promise<void> {
  const backoff = new Backoff();
  watcher.onState({ kind: "connecting" });
  while (!signal.aborted) {
    try {
      await follow(wanted, watcher, signal, () => backoff.opened());
      if (signal.aborted) return;
      watcher.onState({ kind: "reconnecting", isOffline: false });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof MatrxError)) throw error;
      if (!isPassing(error)) return watcher.onState({ kind: "failed", error });
      watcher.onState({ kind: "reconnecting", isOffline: error.code === "DEVICE_OFFLINE" });
    }
    await wanted.link.pause(backoff.next()).catch(() => undefined);
  }
}

/** Resolves when the machine ends the stream. Throws MatrxError when it breaks off. */
async function follow(
  { link, everyMs }: Wanted,
  { onSample, onState }: Watcher,
  signal: AbortSignal,
  onOpen: () => void,
): Promise<void> {
  const onApproval = () => onState({ kind: "asked" });
  const options = { credit: CREDIT, signal, onApproval };
  const { answer, stream } = await link.open("SystemMetrics", { interval_ms: everyMs }, options);
  onOpen();
  let last: number | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  const take = (told: unknown) => {
    const now = performance.now();
    if (last !== undefined && now - last < APART) return;
    const sample = sampleOf(told, { at: Date.now(), isFirst: last === undefined });
    if (!sample) return;
    last = now;
    onSample(sample);
    listen();
  };
  const listen = () => {
    onState({ kind: "live" });
    clearTimeout(silence);
    silence = setTimeout(() => onState({ kind: "silent" }), everyMs + LATE);
  };
  try {
    listen();
    take(answer.metadata);
    for await (const line of linesOf(stream)) take(parsed(line));
  } finally {
    clearTimeout(silence);
  }
}

async function* linesOf(stream: StreamEnd): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of stream.incoming()) {
    if (piece.kind !== "data") continue;
    const lines = `${rest}${decoder.decode(piece.bytes, { stream: true })}`.split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > LONGEST) {
      const error = toolError("INTERNAL", "The machine sends figures that can't be read here");
      stream.reset(error.shape());
      throw error;
    }
    yield* lines;
  }
}

/** Undefined: it is no JSON. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
