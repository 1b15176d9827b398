/** Serves a terminal through the stream of a call: output to the caller, and keys, sizes and signals from there. */
import { constants } from "node:os";
import { agentError, type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { StreamMessage } from "@matrx/shared/streams/frame.ts";
import type { ByteStream, ServeStream } from "../core/byte-stream.ts";
import type { Attachment } from "./holder-link.ts";
import { type Attached, TERMINAL_LIMITS, type TerminalEvent, viewerMessageSchema } from "./protocol.ts";

export interface Viewing {
  /** Whether the caller may type, resize and signal. */
  readonly write: boolean;
  /** What others who watch it are told. */
  readonly label: string;
  /** Connects to the terminal. Throws MatrxError. */
  attach(): Promise<Attachment>;
}

/** It is attached only now, since the stream may never come. */
export function serveTerminal({ write, label, attach }: Viewing): ServeStream {
  return async (stream) => {
    stream.signal.throwIfAborted();
    const attachment = await attach();
    const leave = () => attachment.close();
    stream.signal.addEventListener("abort", leave, { once: true });
    try {
      await greet(stream, attachment, { write, label });
      const shown = show(stream, attachment);
      // Who has nothing more to type may go on watching.
      return await Promise.race([shown, obey(stream, attachment, write).then(() => shown)]);
    } catch (error) {
      // That the stream was reset is why the terminal was left, not the other way round.
      stream.signal.throwIfAborted();
      throw error;
    } finally {
      stream.signal.removeEventListener("abort", leave);
      attachment.close();
    }
  };
}

async function greet(
  stream: ByteStream,
  { attached }: Attachment,
  { write, label }: Omit<Viewing, "attach">,
): Promise<void> {
  const { from, cols, rows, snapshot, viewers } = attached;
  const drawn = snapshot === undefined ? undefined : Buffer.from(snapshot);
  await stream.send({
    ...{ type: "attached", sequence: from, cols, rows, write, snapshot: drawn !== undefined },
    snapshot_bytes: drawn?.length ?? 0,
  });
  if (drawn && drawn.length > 0) await stream.write(drawn);
  await stream.send(viewersMessage([...viewers, { label, write, since: Date.now() }]));
}

/** Resolves with how the terminal ended. */
async function show(stream: ByteStream, attachment: Attachment): Promise<StreamMessage> {
  for await (const piece of attachment.flow()) {
    if (piece.kind === "data") await stream.write(piece.bytes);
    else if (piece.event.event === "exit") return endOf(piece.event);
    else await tell(stream, piece.event);
  }
  throw agentError("INTERNAL", "The terminal's output ended before the terminal");
}

async function tell(stream: ByteStream, event: TerminalEvent): Promise<void> {
  if (event.event === "size") await stream.send({ type: "resized", cols: event.cols, rows: event.rows });
  if (event.event === "gap") await stream.send({ type: "gap", from: event.from, to: event.to });
  if (event.event === "viewers") await stream.send(viewersMessage(event.viewers));
}

/** All who watch, whoever is told among them. */
function viewersMessage(viewers: Attached["viewers"]): StreamMessage {
  const shown = viewers.map(({ since, ...viewer }) => ({ ...viewer, since: new Date(since).toISOString() }));
  return { type: "viewers", viewers: shown };
}

function endOf({ code, signal }: { code: number | null; signal: number | null }): StreamMessage {
  if (signal === null) return { exit_code: code };
  const [name = `signal ${signal}`] =
    Object.entries(constants.signals).find(([, number]) => number === signal) ?? [];
  return { signal: name };
}

/** Resolves when the caller has nothing more to say. Throws MatrxError. */
async function obey(stream: ByteStream, attachment: Attachment, write: boolean): Promise<void> {
  for await (const sent of stream.incoming()) {
    if (!write) throw onlyWatches();
    if (sent.kind === "data") await type(attachment, sent.bytes);
    else {
      const message = viewerMessageSchema.safeParse(toOrder(sent.message));
      if (!message.success) throw notUnderstood(sent.message);
      attachment.say(message.data);
    }
  }
}

/** Signals have their name in `name`. */
function toOrder(message: StreamMessage): StreamMessage {
  return message.type === "signal" ? { type: "signal", signal: message.name } : message;
}

async function type(attachment: Attachment, bytes: Uint8Array): Promise<void> {
  const { inputBytes } = TERMINAL_LIMITS;
  for (let at = 0; at < bytes.length; at += inputBytes)
    await attachment.write(bytes.subarray(at, at + inputBytes));
}

function onlyWatches(): MatrxError {
  return agentError("PERMISSION_DENIED", "This stream only watches the terminal", {
    hint: "Attach with write: true to type, resize or signal",
    details: { reason: "READ_ONLY" },
  });
}

function notUnderstood({ type: kind }: StreamMessage): MatrxError {
  const shown = typeof kind === "string" ? kind.slice(0, 64) : "without a type";
  return toolError("INVALID_PARAMETERS", `The message ${shown} is none that a terminal takes`, {
    hint: `Send resize with cols and rows from 1 to ${TERMINAL_LIMITS.mostCells}, or signal with a name such as SIGINT`,
    details: { reason: "MESSAGE" },
  });
}
