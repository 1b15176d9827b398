/**
 * What an agent and a holder say to each other. A connection begins with a greeting, then has requests and their replies;
 * `attach` makes it the flow of one terminal. An old holder lives on after an update of the agent: a change here is a new
 * version, and agents keep speaking those that living holders may know.
 */
import * as z from "zod";

/** Versions that this program speaks, best first. */
export const VERSIONS: readonly number[] = [1];

export const TERMINAL_LIMITS = {
  /** Bytes of output that a terminal keeps for those who come later. */
  ringBytes: 1024 * 1024,
  /** Lines above the screen that a snapshot has; fewer if they are wide. */
  scrollback: 1000,
  /** Terminals of one holder, and those of one grant. */
  most: 64,
  mostPerGrant: 16,
  /** How far a viewer may be behind before the terminal waits for it, in bytes. */
  viewerLagBytes: 256 * 1024,
  /** How long it waits for one that takes nothing, in milliseconds. */
  viewerDeadMs: 5000,
  /** How long a terminal that has ended is kept, in milliseconds. */
  endedKeptMs: 60_000,
  /** How long a holder without terminals and connections goes on, in milliseconds. */
  idleMs: 10_000,
  /** Between hanging up and killing, in milliseconds. */
  closeGraceMs: 500,
  /** Rows and columns. */
  mostCells: 1000,
  /** Input in one message, and what waits at most for a program that does not read, in bytes. */
  inputBytes: 64 * 1024,
  /** Bytes of one recording. */
  recordingBytes: 256 * 1024 * 1024,
} as const;

/** Times and sizes that tests make smaller. */
export type HolderLimits = Pick<
  { readonly [Name in keyof typeof TERMINAL_LIMITS]: number },
  "viewerDeadMs" | "endedKeptMs" | "idleMs"
>;

export const TERMINAL_ID = /^term_[0-9a-z]{10}$/;
const id = z.string().regex(TERMINAL_ID);
const cells = z.int().min(1).max(TERMINAL_LIMITS.mostCells);
const count = z.int().nonnegative();

export const greetingSchema = z.object({ versions: z.array(z.int()).max(100) });
export const welcomeSchema = z.object({
  /** The version to speak from here on; absent: they have none in common. */
  v: z.int().optional(),
  versions: z.array(z.int()),
  pid: z.int(),
  /** Whether it has pseudo terminals; else programs read from a pipe. */
  pty: z.boolean().optional(),
  /** Whether it can record. */
  records: z.boolean().optional(),
});
export type Welcome = z.infer<typeof welcomeSchema>;

export const SIGNALS = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGKILL", "SIGTSTP", "SIGCONT"] as const;
export type TerminalSignal = (typeof SIGNALS)[number];

/** The record of a terminal: for agents; the holder keeps it and looks at nothing in it. */
export const recordSchema = z.object({
  grant: z.string(),
  owner: z.boolean(),
  session: z.string(),
  name: z.string().optional(),
  shell: z.string(),
  /** How it is confined (`shellOf`). */
  confined: z.string().default("free"),
  /** Whether it was opened for one command, and may be closed to make room when it is idle. */
  spare: z.boolean().default(false),
  /** Whether it was told to mark its commands. */
  marks: z.boolean().default(false),
  cwd: z.string(),
  /** Milliseconds since 1970. */
  started: z.number(),
});
export type TerminalRecord = z.infer<typeof recordSchema>;

const createSchema = z.object({
  op: z.literal("create"),
  id,
  file: z.string().min(1),
  args: z.array(z.string()),
  cwd: z.string(),
  env: z.record(z.string(), z.string()),
  cols: cells,
  rows: cells,
  /** What marks of its shell carry; programs do not know it. */
  nonce: z.string(),
  /** The file in which its output is recorded; absent: it is not. */
  recording: z.string().optional(),
  record: z.unknown(),
});
export type CreateRequest = Omit<z.infer<typeof createSchema>, "op">;

const attachSchema = z.object({
  op: z.literal("attach"),
  id,
  /** A byte to go on from, the screen and what comes after it, or only what comes. */
  from: z.union([count, z.literal("snapshot"), z.literal("now")]),
  write: z.boolean(),
  /** What other viewers are told; absent: they are told nothing of this one. */
  label: z.string().max(200).optional(),
});
export type AttachRequest = Omit<z.infer<typeof attachSchema>, "op">;

const resizeSchema = z.object({ op: z.literal("resize"), id, cols: cells, rows: cells });
const signalSchema = z.object({ op: z.literal("signal"), id, signal: z.enum(SIGNALS) });

export const requestSchema = z.intersection(
  z.object({ n: z.int() }),
  z.discriminatedUnion("op", [
    createSchema,
    attachSchema,
    resizeSchema,
    signalSchema,
    z.object({ op: z.literal("list") }),
    z.object({ op: z.literal("screen"), id }),
    z.object({ op: z.literal("write"), id, base64: z.string().max(TERMINAL_LIMITS.inputBytes * 2) }),
    z.object({ op: z.literal("close"), id }),
  ]),
);
export type HolderRequest = z.infer<typeof requestSchema>;

export const replySchema = z.object({
  n: z.int(),
  result: z.unknown().optional(),
  error: z
    .object({
      code: z.enum(["NOT_FOUND", "ENDED", "FULL", "BUSY", "FAILED", "INVALID"]),
      message: z.string(),
    })
    .optional(),
});

export const viewerSchema = z.object({ label: z.string(), write: z.boolean(), since: z.number() });
const exitSchema = z.object({ code: z.int().nullable(), signal: z.int().nullable(), at: z.number() });
export type TerminalExit = z.infer<typeof exitSchema>;

/** What the shell's marks tell. `unknown`: it has sent none. */
export const SHELL_STATES = ["unknown", "prompt", "running"] as const;

export const infoSchema = z.object({
  id,
  pid: z.int(),
  cols: cells,
  rows: cells,
  /** The bytes of output that are kept. */
  begin: count,
  end: count,
  title: z.string(),
  cwd: z.string().nullable(),
  foreground: z.string().nullable(),
  state: z.enum(SHELL_STATES),
  viewers: z.array(viewerSchema),
  exit: exitSchema.nullable(),
  /** Whether it is being recorded. */
  recorded: z.boolean().default(false),
  record: recordSchema,
});
export type TerminalInfo = z.infer<typeof infoSchema>;

export const screenSchema = z.object({
  /** The byte of output up to which it is drawn. */
  at: count,
  text: z.string(),
  cursor: z.object({ column: count, row: count }),
  /** Whether a program draws on a screen of its own, as editors do. */
  alternate: z.boolean(),
  bracketedPaste: z.boolean(),
  /** Whether arrow keys are sent as an application wants them (DECCKM). */
  applicationKeys: z.boolean().default(false),
  title: z.string(),
});
export type TerminalScreen = z.infer<typeof screenSchema>;

export const attachedSchema = z.object({
  /** The first byte that follows. */
  from: count,
  /** Bytes that were wanted and are no longer kept. */
  lost: count,
  /** Sequences that draw the screen as it was at `from`. */
  snapshot: z.string().optional(),
  cols: cells,
  rows: cells,
  viewers: z.array(viewerSchema),
});
export type Attached = z.infer<typeof attachedSchema>;

/** What happens to a terminal, between its bytes. */
export const terminalEventSchema = z.discriminatedUnion("event", [
  z.object({ event: z.literal("size"), cols: cells, rows: cells }),
  z.object({ event: z.literal("viewers"), viewers: z.array(viewerSchema) }),
  /** Bytes that no longer were there when this viewer had room. */
  z.object({ event: z.literal("gap"), from: count, to: count }),
  /** Of the shell: the mark stands before the byte `at`, and ended before `after`. */
  z.object({
    event: z.literal("mark"),
    mark: z.enum(["prompt", "input", "start", "end"]),
    at: count,
    after: count,
    code: z.int().optional(),
  }),
  z.object({ event: z.literal("exit"), code: z.int().nullable(), signal: z.int().nullable() }),
]);
export type TerminalEvent = z.infer<typeof terminalEventSchema>;

/** What an attached connection says besides its bytes, which are typed. */
export const viewerMessageSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("resize"), cols: cells, rows: cells }),
  z.object({ type: z.literal("signal"), signal: z.enum(SIGNALS) }),
]);
export type ViewerMessage = z.infer<typeof viewerMessageSchema>;
