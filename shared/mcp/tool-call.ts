/** One `tools/call`: from its arguments to its result. */
import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { CallApproval } from "../approval.ts";
import { TOOL_NAME_CHARS } from "../caller/from-caller.ts";
import type { Progress } from "../content.ts";
import { effectOfCall, toolNameOf } from "../effects.ts";
import { callerError, MatrxError, relayError } from "../errors.ts";
import { type CallId, isCallId, type SessionId } from "../ids.ts";
import { check } from "../json-input.ts";
import type { CallEnd, CallWatcher, OutputPiece } from "./device.ts";
import type { Arguments, McpHost, Target } from "./host.ts";
import { ProgressReporter } from "./progress.ts";
import { answerResult, errorResult, pendingResult } from "./result.ts";
import { sessionNamed } from "./session-name.ts";
import { SESSION, withoutNull } from "./tools.ts";
import { WAIT_CALL, waitCallSchema } from "./wait-call.ts";

/** The one question that a call may put to its client: to open the page where the owner decides. */
const QUESTION = "approval";

const sessionSchema = z.object({ [SESSION]: z.string().max(128).nullish() });
/** As on the other surfaces. */
const nameSchema = z.object({ name: z.string().min(1).max(TOOL_NAME_CHARS) });

/** What the request is besides its tool and arguments. */
export interface CallRequest {
  readonly context: ServerContext;
  /** The name of the session of calls that name none. */
  readonly session: string;
  /** Whether the client can show a person an address. */
  readonly opensUrls: boolean;
  readonly onError: (error: unknown) => void;
}

type Result = CallToolResult | InputRequiredResult;

/** Never rejects for what a caller or a device did: that is a result, too. */
export async function callTool(
  host: McpHost,
  name: string,
  input: Arguments,
  request: CallRequest,
): Promise<Result> {
  try {
    check(nameSchema, { name }, "caller");
    const { [SESSION]: named } = check(sessionSchema, input, "caller");
    const { [SESSION]: _, ...rest } = input;
    const own = await host.answer(name, rest);
    if (own) return own;
    const session = await sessionNamed(named || request.session);
    return await new ToolCall(name, await host.target(rest), session, request).run();
  } catch (error) {
    if (error instanceof MatrxError) return errorResult(error.shape());
    request.onError(error);
    return errorResult(internalError().shape());
  }
}

export function internalError(): MatrxError {
  return relayError("INTERNAL", "Something went wrong on our side", { hint: "Try again" });
}

class ToolCall implements CallWatcher {
  readonly #tool: string;
  readonly #target: Target;
  readonly #session: SessionId;
  readonly #request: CallRequest;
  #reporter: ProgressReporter | undefined;

  constructor(tool: string, target: Target, session: SessionId, request: CallRequest) {
    this.#tool = tool;
    this.#target = target;
    this.#session = session;
    this.#request = request;
  }

  async run(): Promise<Result> {
    const { context } = this.#request;
    const token = context.mcpReq._meta?.progressToken;
    if (token !== undefined)
      this.#reporter = new ProgressReporter((progress) => this.#notify(token, progress));
    try {
      return this.#resultOf(await this.#end());
    } finally {
      this.#reporter?.close();
    }
  }

  output({ data }: OutputPiece): void {
    this.#reporter?.output(data);
  }

  progress(progress: Progress): void {
    this.#reporter?.progress(progress);
  }

  asked({ state, summary }: CallApproval): boolean {
    if (state !== "pending") {
      this.#reporter?.goesOn();
      return false;
    }
    const { approvalsUrl } = this.#target.device;
    this.#reporter?.waitsFor(
      `Waiting for a person to allow this${approvalsUrl ? ` at ${approvalsUrl}` : ""}: ${summary}`,
    );
    return this.#mayAsk;
  }

  /** Only a call with an effect goes on without its reader. */
  get #mayAsk(): boolean {
    const { opensUrls, context } = this.#request;
    const isFirst = context.mcpReq.inputResponses === undefined;
    const { input, device } = this.#target;
    const isRead = effectOfCall(toolNameOf(this.#tool), () => input) === "read";
    return isFirst && opensUrls && device.approvalsUrl !== undefined && !isRead;
  }

  async #end(): Promise<CallEnd> {
    const { device, input } = this.#target;
    const { signal } = this.#request.context.mcpReq;
    if (this.#tool === WAIT_CALL) {
      const { call } = check(waitCallSchema, input, "caller");
      return await device.wait(call as CallId, this, signal);
    }
    const answered = this.#answeredCall();
    if (answered) return await this.#goOn(answered);
    const [tool, session, live] = [this.#tool, this.#session, this.#reporter !== undefined];
    const given = withoutNull(toolNameOf(tool), input);
    return await device.call({ tool, input: given, session, live, isNamedEarly: this.#mayAsk }, this, signal);
  }

  /** The call that the client was asked about. Only its own maker can name it, so that it needs no seal. */
  #answeredCall(): CallId | undefined {
    const { inputResponses, requestState } = this.#request.context.mcpReq;
    if (inputResponses === undefined) return undefined;
    const call = requestState<string>();
    if (typeof call === "string" && isCallId(call)) return call;
    throw callerError("INVALID_PARAMETERS", "requestState: is not the one that was given");
  }

  async #goOn(call: CallId): Promise<CallEnd> {
    const { device } = this.#target;
    const { inputResponses, signal } = this.#request.context.mcpReq;
    const response = inputResponse(inputResponses, QUESTION);
    // Whoever declines to look does not want the call.
    if (response.kind === "elicit" && response.action !== "accept") await device.cancel(call);
    return await device.wait(call, this, signal);
  }

  #resultOf(end: CallEnd): Result {
    const of = { tool: toolNameOf(this.#tool), ...this.#target };
    if (end.kind === "answer") return answerResult(end.answer, of);
    if (end.kind === "refused") return errorResult(end.error);
    const { call, approval } = end;
    if (approval?.state === "pending" && this.#mayAsk) return this.#question(call, approval);
    return pendingResult(call, approval, of);
  }

  #question(call: string, { summary }: CallApproval): InputRequiredResult {
    const url = this.#target.device.approvalsUrl ?? "";
    const message = `${this.#tool} on ${this.#target.device.device} waits for you to allow it: ${summary}`;
    const question = inputRequired.elicitUrl({ url, message });
    return inputRequired({ inputRequests: { [QUESTION]: question }, requestState: call });
  }

  #notify(progressToken: string | number, progress: Progress): void {
    const { context, onError } = this.#request;
    context.mcpReq
      .notify({ method: "notifications/progress", params: { progressToken, ...progress } })
      .catch(onError);
  }
}
