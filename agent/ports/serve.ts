/** Serves a connected port as a stream. */
import type { Socket } from "node:net";
import { toolError } from "@matrx/shared/errors.ts";
import type { ServeStream } from "../core/byte-stream.ts";
import { breakOff, FIN, joined } from "./join.ts";

/** A connection whose stream never comes is closed after this time, in milliseconds: its caller is gone. */
const SERVED_WITHIN = 30_000;

/** The stream's end says how many bytes went each way. It is reset with `UNAVAILABLE` if the port breaks the connection off. */
export function servePort(socket: Socket, port: number): ServeStream {
  const unserved = setTimeout(() => socket.destroy(), SERVED_WITHIN).unref();
  return async (stream) => {
    clearTimeout(unserved);
    try {
      return { ...(await joined(socket, stream, () => stream.send(FIN))) };
    } catch (cause) {
      breakOff(socket);
      if (stream.signal.aborted) throw cause;
      throw toolError("UNAVAILABLE", `Port ${port} of this device broke the connection off`, {
        hint: "Look at the program that serves it",
        cause,
      });
    } finally {
      socket.destroy();
    }
  };
}
