/**
 * What a program wrote to its pseudo terminal shortly before it ended. The library lets go of the terminal 200 ms after that,
 * even while it is told not to read, and what it and the system still hold would be lost.
 */
import { readSync } from "node:fs";
import type { ReadStream } from "node:tty";

/** More than the system holds. Without a bound, another program that goes on writing would be read for ever. */
const MOST_BYTES = 256 * 1024;
const PIECE_BYTES = 64 * 1024;

/** `letGo` comes before the descriptor is closed, and `onOutput` gets the rest before that. */
export function readRest(
  socket: ReadStream,
  fd: number,
  { onOutput, letGo }: { readonly onOutput: (bytes: Buffer) => void; readonly letGo: () => void },
): void {
  const destroy = socket.destroy.bind(socket);
  let isRead = false;
  socket.destroy = (error) => {
    if (!isRead) {
      isRead = true;
      // Its listeners get what it holds.
      while (socket.read() !== null);
      for (const bytes of heldBySystem(fd)) onOutput(bytes);
      letGo();
    }
    return destroy(error);
  };
}

function* heldBySystem(fd: number): Generator<Buffer> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  for (let total = 0, bytes = -1; total < MOST_BYTES && bytes !== 0; total += bytes) {
    try {
      bytes = readSync(fd, piece);
    } catch {
      // It holds no more: EAGAIN while others have the terminal open, else EIO.
      return;
    }
    yield Buffer.from(piece.subarray(0, bytes));
  }
}
