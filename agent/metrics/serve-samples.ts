/** Serves samples through the stream of a call: a line of JSON for each. */
import type { ServeStream } from "../core/byte-stream.ts";
import type { Sample } from "./sample.ts";

/**
 * Ends with the stream alone: when its caller leaves, or has not read for ten minutes. `samples` skips what the caller was
 * too slow for.
 */
export function serveSamples(samples: (signal: AbortSignal) => AsyncIterable<Sample>): ServeStream {
  return async (stream) => {
    for await (const sample of samples(stream.signal)) await stream.write(lineOf(sample));
    return undefined;
  };
}

function lineOf(sample: Sample): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(sample)}\n`);
}
