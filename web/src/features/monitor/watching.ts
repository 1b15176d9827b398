/** What a machine's stream of figures tells. */
import type { Opened } from "@matrx/client/transport.ts";
import { toolError } from "@matrx/shared/errors.ts";
import type { StreamEnd } from "@matrx/shared/streams/endpoint.ts";
import type { Away } from "../../calls/kept-stream.ts";
import { type Sample, sampleOf } from "./sample.ts";

export type WatchState =
  | Away
  | { readonly kind: "live" }
  /** The stream is open, and nothing comes. */
  | { readonly kind: "silent" };

export interface Watcher {
  onSample(sample: Sample): void;
  onState(state: WatchState): void;
}

/** A line that is longer is no sample, in characters. */
const LONGEST = 256 * 1024;
/** However often a machine sends them, in milliseconds. */
const APART = 500;
/** So much later than it should, a sample is missed, in milliseconds. */
const LATE = 10_000;

/** Resolves when the machine ends the stream. Throws MatrxError when it breaks off. `everyMs`: between two samples. */
export async function watch(
  { answer, stream }: Opened,
  everyMs: number,
  { onSample, onState }: Watcher,
): Promise<void> {
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
