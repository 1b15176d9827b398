/** Copies one file: continues where an earlier run ended, and puts it into place only if all of it is right. */
import { createHash, type Hash } from "node:crypto";
import { callerError, type MatrxError } from "@matrx/shared/errors.ts";
import type { Sink, Source } from "./ends.ts";

export interface Copied {
  readonly bytes: number;
  /** Bytes that were there from an earlier run. */
  readonly resumed: number;
  readonly sha256: string | undefined;
}

/** Throws MatrxError; then the target is as it was, and the next run goes on with what has arrived. */
export async function copyFile(
  source: Source,
  sink: Sink,
  onBytes: (arrived: number) => void,
): Promise<Copied> {
  const { facts } = source;
  const resumed = await sink.begin(source);
  let arrived = resumed;
  onBytes(arrived);
  const hash = await digestOfStart(source, sink, resumed);
  for await (const piece of source.read(resumed)) {
    arrived += piece.length;
    // Nobody may fill the disk by sending more than was announced.
    if (arrived > facts.size) break;
    await sink.write(piece);
    hash?.update(piece);
    onBytes(arrived);
  }
  const sha256 = hash?.digest("hex") ?? facts.sha256;
  if (arrived !== facts.size || (facts.sha256 !== undefined && sha256 !== facts.sha256)) {
    await sink.discard();
    throw wrongContent();
  }
  await sink.finish(sha256);
  return { bytes: facts.size, resumed, sha256 };
}

/** Undefined if neither end has these bytes here. */
async function digestOfStart(source: Source, sink: Sink, length: number): Promise<Hash | undefined> {
  const hash = createHash("sha256");
  if (length === 0) return hash;
  const isKnown = (await sink.digestStart(hash, length)) || (await source.digestStart(hash, length));
  return isKnown ? hash : undefined;
}

function wrongContent(): MatrxError {
  return callerError("CONFLICT", "What arrived is not the file's content, and was discarded", {
    hint: "Copy it again",
  });
}
