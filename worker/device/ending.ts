/** How a REST call ended. */
import type { ErrorShape } from "@matrx/shared/errors.ts";
import type { CallId } from "@matrx/shared/ids.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";

/** Large answers are a stream: a value is copied into the Worker, and the copies stay in memory for long. */
export type Ending<Bytes = Uint8Array | ReadableStream<Uint8Array>> =
  | {
      kind: "answer";
      call: CallId;
      status: ResultHeader["status"];
      code?: ResultHeader["code"];
      body: Bytes;
    }
  | { kind: "refused"; call: CallId; error: ErrorShape };
