/** A call over a WebSocket: its output is shown while it comes, and Ctrl-C cancels it. */

import { problemSchema } from "@matrx/shared/api.ts";
import type { Answer } from "@matrx/shared/caller-frames.ts";
import { type Hop, MatrxError } from "@matrx/shared/errors.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { WebSocket } from "ws";
import { lostBecause } from "../refusals.ts";
import { callerSocketUrl } from "../relay-url.ts";
import { callerFrameSchema } from "./answer-schema.ts";
import type { CallToMake, Made } from "./call.ts";
import type { RelayClient } from "./relay-client.ts";

interface Show {
  /** Write output to stdout and stderr as it comes. */
  print: boolean;
}

const ID = "1";
const PING_EVERY = 20_000;
/** After Ctrl-C the answer is waited for this long, in milliseconds. */
const CANCELLED_WITHIN = TIMES.killAfter + 2000;

/** Makes the call and waits for its end. Throws MatrxError. */
export async function callLive(client: RelayClient, toMake: CallToMake, { print }: Show): Promise<Made> {
  const session = toMake.session === "new" ? undefined : toMake.session;
  const socket = new WebSocket(callerSocketUrl(client.relay, toMake.device, session), {
    headers: { Authorization: `Bearer ${client.token}` },
    perMessageDeflate: false,
    handshakeTimeout: 15_000,
    maxPayload: LIMITS.platformFrameBytes,
  });
  const live = new LiveOutputPrinter(print);
  let pinging: NodeJS.Timeout | undefined;
  const cancel = () => {
    if (socket.readyState !== WebSocket.OPEN) return socket.terminate();
    socket.send(JSON.stringify({ id: ID, action: "cancel" }));
    setTimeout(() => socket.terminate(), CANCELLED_WITHIN).unref();
  };
  toMake.stop.addEventListener("abort", cancel, { once: true });
  try {
    const answer = await new Promise<Answer>((resolve, reject) => {
      let why: string | undefined;
      socket.on("open", () => {
        socket.send(JSON.stringify(frameOf(toMake)));
        pinging = setInterval(() => socket.send('{"action":"ping"}'), PING_EVERY);
      });
      socket.on("message", (data) => {
        const frame = callerFrameSchema.parse(JSON.parse(data.toString()));
        if (frame.type === "success" || frame.type === "error") resolve(frame as Answer);
        else if (frame.type === "output") live.show(frame.channel, frame.offset, frame.data);
        else if (frame.type === "gap") live.gap();
      });
      socket.on("unexpected-response", async (_request, response) => {
        let text = "";
        for await (const chunk of response) text += chunk;
        reject(problemOf(response.statusCode ?? 0, text));
      });
      socket.on("error", (error) => {
        why = lostBecause(error);
      });
      socket.on("close", (code, reason) =>
        reject(lost(why ?? (reason.toString() || `closed (${code})`), toMake)),
      );
    });
    return { answer, shown: live.isWhole, session };
  } finally {
    clearInterval(pinging);
    toMake.stop.removeEventListener("abort", cancel);
    socket.close();
    setTimeout(() => socket.terminate(), 1000).unref();
  }
}

function frameOf({ tool, input, timeoutMs, key }: CallToMake) {
  return {
    ...{ id: ID, tool, input, stream: true, cancel_on_disconnect: false },
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    ...(key !== undefined && { idempotency_key: key }),
  };
}

/** Writes live output, and knows whether it saw all of it. */
class LiveOutputPrinter {
  readonly #print: boolean;
  #next: number | undefined;
  #gaps = false;

  constructor(print: boolean) {
    this.#print = print;
  }

  show(channel: "stdout" | "stderr", offset: number, data: string): void {
    if (!this.#print) return;
    if (offset !== (this.#next ?? 0)) this.gap();
    this.#next = offset + Buffer.byteLength(data);
    process[channel].write(data);
  }

  gap(): void {
    if (!this.#gaps && this.#print) process.stderr.write("\n[some output was left out on the way]\n");
    this.#gaps = true;
  }

  get isWhole(): boolean {
    return this.#next !== undefined && !this.#gaps;
  }
}

function problemOf(status: number, text: string): MatrxError {
  try {
    const { code, detail, hint, hop } = problemSchema.parse(JSON.parse(text));
    return new MatrxError({ code, message: detail, hint, hop: hop as Hop });
  } catch {
    return new MatrxError({
      code: status === 401 ? "UNAUTHENTICATED" : "UNAVAILABLE",
      message: `The relay answered ${status} to the WebSocket`,
      hint: "Check the relay's address; --no-stream calls without a WebSocket",
      hop: "relay",
    });
  }
}

function lost(why: string, { key, stop }: CallToMake): MatrxError {
  if (stop.aborted) {
    const message = "Cancelled, but no answer came: the call may still run";
    return new MatrxError({ code: "CANCELLED", message, hint: againWith(key), hop: "caller" });
  }
  return new MatrxError({
    code: "OUTCOME_UNKNOWN",
    message: `The connection to the relay ended before the answer came: ${why}`,
    hint: againWith(key),
    hop: "caller",
  });
}

function againWith(key: string | undefined): string {
  return key
    ? `Ask for the outcome with the same call and --idempotency-key ${key}`
    : "Run it again: it only reads";
}
