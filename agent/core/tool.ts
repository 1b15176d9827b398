/**
 * What a tool is: a file in `tools/` says all of it. `shared/built-in-tools.ts`, which the relay judges by, is generated from
 * those files.
 */
import type { Content, Progress } from "@matrx/shared/content.ts";
import type { BuiltInTool, Effect } from "@matrx/shared/effects.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { OwnFamily } from "@matrx/shared/tool-families.ts";
import type { Logger } from "pino";
import type * as z from "zod";
import type { ApprovedState } from "./approved-state.ts";
import type { ServeStream } from "./byte-stream.ts";
import type { Needs, Rights } from "./gate.ts";
import type { Preview } from "./preview.ts";
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
  /** Live output for callers that opted in; `offset` is a byte offset into the job's log. */
  readonly output: (channel: "stdout" | "stderr", offset: number, data: string) => void;
  /** How far the call is, for callers that opted in to live output. Only the newest counts; as often as one likes. */
  readonly progress: (progress: Progress) => void;
  /**
   * Back-pressure: await it before making an answer of about this many bytes, if known, until its reader has room. Small
   * answers pass at once; the deadline is paused meanwhile. Rejects when the call is stopped.
   */
  readonly room: (bytes: number) => Promise<void>;
  /** Whether the caller opens a stream with this call; then the result may have a `stream`. */
  readonly opensStream: boolean;
  /** Set if a person approved the call: what it touches must still be as it was then, up to the moment it is changed. */
  readonly approved?: ApprovedState | undefined;
  readonly log: Logger;
}

/** What a tool gets to say what a call would do. */
export type PreviewContext = Pick<ToolContext, "session" | "grant" | "rights" | "signal">;

/** The part of the context that a call from an earlier run of this program still has. */
export type ResumeContext = Pick<ToolContext, "call" | "signal" | "log">;

/** What a handler returns. It throws MatrxError (hop `tool`) if the tool fails. */
export interface ToolResult {
  output: string;
  image?: { media_type: string; base64_data: string };
  metadata?: Record<string, unknown>;
  /** The whole result in parts, if it has others than a text and a picture. */
  content?: readonly Content[];
  /** The result as data that fits the tool's output schema, if that is not `metadata`. */
  structured?: unknown;
  /** Exit code of a command; non-zero is a result, not an error. */
  exit?: number;
  /** Serves the stream that the call opens. */
  stream?: ServeStream;
}

/** JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The input of a tool that brings its JSON Schema along, announced as it is. */
export interface JsonSchemaInput {
  readonly json_schema: JsonSchema;
  /** Throws MatrxError `INVALID_PARAMETERS` naming the field. */
  parse(input: Record<string, unknown>): Record<string, unknown>;
}

export type ToolInput = z.ZodObject | JsonSchemaInput;
type InputOf<Input extends ToolInput> = Input extends z.ZodObject ? z.infer<Input> : Record<string, unknown>;

export interface Tool<Input extends ToolInput = ToolInput> {
  readonly name: string;
  /** The family by which models are given it. Each of our own tools has one. */
  readonly family?: OwnFamily;
  /** What it may do. Each of our own tools says; others count as `execute`. */
  readonly effect?: Effect;
  /** Whether it stays within a grant's folders, or sees only what the grant began. Under folder limits others are refused. */
  readonly confinable?: boolean;
  /** The name for people, of at most 128 characters. */
  readonly title?: string;
  /** For models and people: what it does, when to use it, its pitfalls. Names of other tools are in backticks. */
  readonly description: string;
  /** Further details, for people only. */
  readonly details?: string;
  /** Strict: an unknown parameter is refused by name. Each field is described. */
  readonly input: Input;
  /** What `structured` of a result fits, or without that its `metadata`. */
  readonly output?: z.ZodObject | { readonly json_schema: JsonSchema };
  /** Why it cannot work on this machine now; absent or undefined if it can. Calls are attempted anyway. */
  unavailable?(): Lack | undefined | Promise<Lack | undefined>;
  /** How models see it. */
  readonly model?: ForModels<keyof InputOf<Input> & string>;
  /** Whether its streams carry key presses or figures rather than files: then they share the connection of calls. */
  readonly interactive?: boolean;
  /**
   * Its calls are steps of a call of this tool, such as the parts of an upload: they are asked about as if that were called,
   * unless a person allowed it (`Needs.isApproved`).
   */
  readonly continues?: BuiltInTool;
  /** Its time limit in milliseconds if the caller sets no deadline. */
  readonly timeoutMs: number;
  /** What a call with this input needs besides the tool; the gate checks that before the call runs. Throws MatrxError. */
  prepare?(input: InputOf<Input>, context: Pick<ToolContext, "rights" | "grant">): Needs;
  /** What a call with this input would do, for the person who decides on it. Changes nothing. Throws MatrxError if it would fail. */
  preview?(input: InputOf<Input>, context: PreviewContext): Promise<Preview>;
  handle(input: InputOf<Input>, context: ToolContext): Promise<ToolResult>;
  /** Resumes a call that began before this program died, from what it left behind. Undefined if it left nothing. */
  resume?(context: ResumeContext): Promise<ToolResult> | undefined;
}

/** What a machine lacks for a tool, as sentences without the final full stop. */
export interface Lack {
  readonly why: string;
  readonly help: string;
}

export interface ForModels<Parameter extends string> {
  /** Its line in a system prompt, of a few words. Each of our own tools that is not hidden has one. */
  readonly prompt?: string;
  /** Left out where this one is offered, which does the same: a choice between equals only distracts a model. */
  readonly unless?: BuiltInTool;
  /** Left out where this one may not be called: it makes this one's input, or its permission is needed. */
  readonly needs?: BuiltInTool;
  /** Shown whatever families are chosen. */
  readonly always?: boolean;
  /** Accepted, but not listed. */
  readonly omit?: readonly Parameter[];
  /** Required of models. */
  readonly require?: readonly Parameter[];
  /** For programs: models are not offered it. */
  readonly hidden?: boolean;
}

/** Ties the handler's input type to the schema. */
export function defineTool<Schema extends z.ZodObject>(tool: Tool<Schema>): Tool {
  return tool as unknown as Tool;
}
