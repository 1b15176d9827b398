/** What a tool of this device is: one file in `tools/` gives schema, description and handler; `shared/effects.ts` its effect. */
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { Logger } from "pino";
import type * as z from "zod";
import type { Needs, Rights } from "./gate.ts";
import type { Session } from "./sessions.ts";

/** What a handler gets besides its input. */
export interface ToolContext {
  /** The call's id at the relay, or at the local server. */
  readonly call: string;
  readonly session: Session;
  /** Whose jobs it may see. */
  readonly grant: Pick<GrantScope, "id" | "owner">;
  readonly rights: Rights;
  /** Aborted by cancel and by the deadline; `signal.reason` is the MatrxError to answer with. */
  readonly signal: AbortSignal;
  /** Live output of callers that opted in; `offset` is a byte offset into the job's log. */
  readonly output: (channel: "stdout" | "stderr", offset: number, data: string) => void;
  /**
   * To be awaited before an answer of about so many bytes is made, where that is known: until its reader has room for it.
   * Small ones are let through at once; the deadline stands still meanwhile. Rejects when the call is stopped.
   */
  readonly room: (bytes: number) => Promise<void>;
  readonly log: Logger;
}

/** What there is of the context of a call that an earlier run of this program began. */
export type ResumeContext = Pick<ToolContext, "call" | "signal" | "log">;

/** What a handler returns. It throws MatrxError (hop `tool`) when the tool could not do it. */
export interface ToolResult {
  output: string;
  image?: { media_type: string; base64_data: string };
  metadata?: Record<string, unknown>;
  /** Exit code of a command; not zero is a result, not an error. */
  exit?: number;
}

export interface Tool<Schema extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  /** For models and people: what it does, when to use it, its pitfalls. Other tools are named in backticks. */
  readonly description: string;
  /** For people: the rest. */
  readonly details?: string;
  /** Strict: an unknown parameter is refused by name. Each field is described. */
  readonly input: Schema;
  /** Why it cannot work on this machine now; absent or undefined: it can. A call is tried all the same. */
  unavailable?(): Lack | undefined | Promise<Lack | undefined>;
  /** How models see the input: what is not listed to them, though it is taken, and what they must give. */
  readonly model?: ModelInput<keyof z.infer<Schema> & string>;
  /** The longest that it takes, in milliseconds, when the caller sets no deadline. */
  readonly timeoutMs: number;
  /** What a call needs besides this tool, by its input. The gate decides by that before the call runs. Throws MatrxError. */
  prepare?(input: z.infer<Schema>, context: Pick<ToolContext, "rights">): Needs;
  handle(input: z.infer<Schema>, context: ToolContext): Promise<ToolResult>;
  /** Goes on with a call that was begun before this program died, by what it left behind. Undefined: it left nothing. */
  resume?(context: ResumeContext): Promise<ToolResult> | undefined;
}

/** What a machine lacks for a tool, in sentences without their ends. */
export interface Lack {
  readonly why: string;
  readonly help: string;
}

export interface ModelInput<Parameter extends string> {
  readonly omit?: readonly Parameter[];
  readonly require?: readonly Parameter[];
}

/** Keeps the input's type between schema and handler. */
export function defineTool<Schema extends z.ZodObject>(tool: Tool<Schema>): Tool {
  return tool as unknown as Tool;
}
