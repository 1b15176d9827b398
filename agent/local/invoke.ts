/** The guide's call by REST: in a fresh session, and answered in the guide's shape whatever becomes of it. */
import type { ServerResponse } from "node:http";
import { type Call, callSchema } from "@matrx/shared/caller/from-caller.ts";
import { type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import { check, parseJsonObject } from "@matrx/shared/json-input.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { CALL_HEADER } from "@matrx/shared/tokens.ts";
import type { Answer } from "./answer.ts";
import { endsWithCaller } from "./local-calls.ts";
import { readJsonText, sendJson } from "./rest.ts";

export const invoke: Answer = async (request, response, { calls }) => {
  const text = await readJsonText(request);
  const call = readCall(text, response);
  if (!call) return;
  let giveBack: (() => void) | undefined;
  const started = calls.start(call, {
    room: async (bytes, signal) => {
      giveBack?.();
      giveBack = await calls.unread.take(bytes, signal);
    },
  });
  response.on("close", () => {
    giveBack?.();
    if (!response.writableFinished && endsWithCaller(call)) calls.cancel(started.call);
  });
  const stopKeepAlive = keepAlive(response, started.call);
  const { body } = await started.outcome;
  stopKeepAlive();
  if (response.destroyed) return giveBack?.();
  if (!response.headersSent)
    response.writeHead(200, { ...headersOf(started.call), "Content-Length": body.length });
  response.end(body);
  // A caller that reads nothing for so long is gone, or might as well be.
  response.setTimeout(TIMES.streamDrain, () => response.destroy());
};

/** Undefined: the body is no call, and that was answered. */
function readCall(text: string, response: ServerResponse): Call | undefined {
  try {
    const { id: _, stream: __, ...call } = check(callSchema, parseJsonObject(text, LIMITS.restBodyBytes));
    return call;
  } catch (error) {
    if (!(error instanceof MatrxError)) throw error;
    sendJson(response, 400, malformed(error.shape()));
    return undefined;
  }
}

function malformed({ code, message, hint, details }: ErrorShape) {
  const said = { type: "error", output: message, image: null, code, hop: "agent" };
  return { ...said, ...(hint && { hint }), ...(details && { metadata: details }) };
}

function headersOf(call: string) {
  return { "Content-Type": "application/json", [CALL_HEADER]: call };
}

/** White space before the JSON, while the call takes long. Returns what ends it. */
function keepAlive(response: ServerResponse, call: string): () => void {
  const timer = setInterval(() => {
    if (!response.headersSent) response.writeHead(200, headersOf(call));
    response.write(" ");
  }, TIMES.streamKeepAlive);
  const stop = () => clearInterval(timer);
  response.on("close", stop);
  return stop;
}
