/** Terminals in a temporary folder, with a real holder and real programs; both are gone after the test. */
import { createHash } from "node:crypto";
import { makeGrantId } from "@matrx/shared/ids.ts";
import type { Attachment } from "../../../agent/terminals/holder-link.ts";
import type { HolderLimits, TerminalEvent } from "../../../agent/terminals/protocol.ts";
import type { NewTerminal } from "../../../agent/terminals/terminals.ts";

export const OWNER = { id: makeGrantId(), owner: true } as const;

/** Long enough for a test to connect again, short enough that the holder ends soon after. */
export const LIMITS: HolderLimits = { viewerDeadMs: 1000, endedKeptMs: 2000, idleMs: 300 };

export function script(command: string, more: Partial<NewTerminal> = {}): NewTerminal {
  const program = { file: "/bin/bash", args: ["-c", command], cwd: "/", cols: 80, rows: 24 };
  return { grant: OWNER, session: "s", ...program, ...more };
}

/** All that comes until a terminal ends. */
export async function everything(
  attachment: Attachment,
): Promise<{ bytes: Buffer; events: TerminalEvent[]; sha256: string }> {
  const parts: Buffer[] = [];
  const events: TerminalEvent[] = [];
  for await (const piece of attachment.flow()) {
    if (piece.kind === "data") parts.push(piece.bytes);
    else events.push(piece.event);
  }
  attachment.close();
  const bytes = Buffer.concat(parts);
  return { bytes, events, sha256: createHash("sha256").update(bytes).digest("hex") };
}

/** What comes until a text does. */
export async function until(attachment: Attachment, text: string): Promise<string> {
  let seen = "";
  for (;;) {
    const { value, done } = await attachment.flow().next();
    if (done) throw new Error(`the terminal ended before ${text}: ${seen}`);
    if (value.kind === "data") seen += value.bytes.toString();
    if (seen.includes(text)) return seen;
  }
}
