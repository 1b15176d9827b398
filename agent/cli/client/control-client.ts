/** Talks to the agents of this user that run on this machine, over their control sockets. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import { errorInProblem } from "@matrx/shared/problem.ts";
import type * as z from "zod";
import type { Home } from "../../config/app-dirs.ts";
import { CONTROL_HOST, CONTROL_NAMES, controlEndpoint } from "../../control/endpoint.ts";
import { currentPlatform } from "../../platform/current.ts";
import { isNodeError } from "../../platform/private-file.ts";
import { parsedJson } from "./json.ts";

/** Long enough for what a pause stops; in milliseconds. */
const ANSWERS_WITHIN = 20_000;

export class ControlClient {
  readonly #endpoint: string;

  /** Whether the system can have the agents' sockets at all. */
  static canReach({ controlFolder }: Pick<Home, "controlFolder">): boolean {
    const platform = currentPlatform();
    return CONTROL_NAMES.every((name) => platform.controlEndpoint(controlFolder, name) !== undefined);
  }

  /** One for each agent that may run here. Throws MatrxError if the system cannot have their sockets. */
  static all({ controlFolder }: Pick<Home, "controlFolder">): ControlClient[] {
    return CONTROL_NAMES.map((name) => new ControlClient(controlEndpoint(controlFolder, name)));
  }

  private constructor(endpoint: string) {
    this.#endpoint = endpoint;
  }

  /** Asks the agent; undefined if none runs. Throws MatrxError. */
  async ask<Schema extends z.ZodType>(
    method: "GET" | "POST",
    path: string,
    schema: Schema,
    body?: unknown,
  ): Promise<z.infer<Schema> | undefined> {
    const response = await this.#send(method, path, AbortSignal.timeout(ANSWERS_WITHIN), body);
    return response && schema.parse(parsedJson(await text(response)));
  }

  /** The lines that the agent sends, until it ends or the signal aborts; undefined if none runs. Throws MatrxError. */
  async lines(path: string, signal: AbortSignal): Promise<AsyncIterable<string> | undefined> {
    const response = await this.#send("GET", path, signal);
    if (!response) return undefined;
    const input = new PassThrough();
    response.pipe(input);
    // An agent that dies ends the lines, too.
    response.on("error", () => undefined).on("close", () => input.end());
    return linesOf(input);
  }

  async #send(
    method: string,
    path: string,
    signal: AbortSignal,
    body?: unknown,
  ): Promise<IncomingMessage | undefined> {
    const sent = request({
      ...{ socketPath: this.#endpoint, agent: false, method, path, signal },
      headers: { Host: CONTROL_HOST, ...(body !== undefined && { "Content-Type": "application/json" }) },
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    let response: IncomingMessage;
    try {
      [response] = (await once(sent, "response")) as [IncomingMessage];
    } catch (cause) {
      if (isNodeError(cause, "ENOENT") || isNodeError(cause, "ECONNREFUSED")) return undefined;
      throw silentError(cause);
    }
    if (response.statusCode === 200) return response;
    throw errorInProblem(parsedJson(await text(response))) ?? silentError(undefined);
  }
}

/** Reads nothing before somebody asks: an interface whose lines nobody awaits yet would drop them. */
async function* linesOf(input: PassThrough): AsyncGenerator<string> {
  yield* createInterface({ input });
}

function silentError(cause: unknown): MatrxError {
  const why = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
  return agentError("UNAVAILABLE", `The agent on this machine does not answer${why}`, {
    hint: "See what it logged: matrx logs",
    cause,
  });
}
