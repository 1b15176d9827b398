/** What was piped into this program, for a command on a device. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { withProgress } from "../output/progress.ts";

/** As much as one call carries. */
const MOST_BYTES = 2 * 1024 * 1024;

/** All of stdin; undefined: it is a terminal, or empty. Throws MatrxError when it is too large. */
export async function readStdin(): Promise<Buffer | undefined> {
  if (process.stdin.isTTY) return undefined;
  const bytes = await withProgress("Reading stdin to its end first (-n skips it)", readAll());
  return bytes.length === 0 ? undefined : bytes;
}

async function readAll(): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of process.stdin as AsyncIterable<Buffer>) {
    pieces.push(piece);
    length += piece.length;
    if (length > MOST_BYTES) throw tooLarge();
  }
  return Buffer.concat(pieces);
}

function tooLarge(): MatrxError {
  return new MatrxError({
    code: "PAYLOAD_TOO_LARGE",
    message: `stdin is larger than ${MOST_BYTES / 1024 / 1024} MiB, so nothing was run`,
    hint: "Send less, or run without stdin (-n) and have the program fetch it",
    hop: "caller",
  });
}
