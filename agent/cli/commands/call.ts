/** `matrx call`: runs one tool on one device. */

import type { CallEnd } from "@matrx/client/call.ts";
import { pathOf, type RelayClient } from "@matrx/client/http/relay-client.ts";
import type { CallEvent } from "@matrx/client/transport.ts";
import { deviceToolsSchema } from "@matrx/shared/api.ts";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import { effectOfCall, toolNameOf } from "@matrx/shared/effects.ts";
import { callerError, MatrxError } from "@matrx/shared/errors.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import type { Command } from "commander";
import { readInput } from "../client/call-input.ts";
import { type CallerOptions, callerOf, relayOption, tokenFileOption } from "../client/credentials.ts";
import { deviceByRest, deviceBySocket } from "../client/device.ts";
import { findDevice } from "../client/find-device.ts";
import { sessionNamed } from "../client/names.ts";
import { readWords, type Words } from "../client/words.ts";
import { usageError } from "../output/failure.ts";
import { LiveInPipe, LiveOnTerminal, type LiveOutput } from "../output/live-output.ts";
import { endCall, type MadeCall } from "../output/print-answer.ts";
import { withProgress } from "../output/progress.ts";
import { asksForPage, FILE_BYTES, wantsFile } from "../output/whole-output.ts";
import { stopSignal } from "../run/stop-signal.ts";

type Input = Record<string, unknown>;

interface CallOptions extends CallerOptions {
  stdin?: boolean;
  stream?: boolean;
  rest?: boolean;
  timeout?: string;
  idempotencyKey?: string;
  session?: string;
  save?: string;
  json?: boolean;
}

export function addCall(program: Command): void {
  program
    .command("call")
    .description("run a tool on a device")
    .usage("[options] [device] <tool> [input...]")
    .argument("[device]", "id or name, or the start of one (default: see matrx use)")
    .argument("[tool]", "its name, in any case (see matrx tools)")
    .argument("[input...]", "one JSON object, or key=value ...")
    .addOption(relayOption)
    .addOption(tokenFileOption)
    .option("--stdin", "read the input, a JSON object, from stdin")
    .option("--stream", "show output as it arrives (default on a terminal)")
    .option("--no-stream", "show output at the end")
    .option("--rest", "call by REST instead of a WebSocket; Ctrl-C then leaves the call running")
    .option("--timeout <seconds>", "stop the call after this time")
    .option("--idempotency-key <key>", "run at most once for this key")
    .option("--session <name>", "call in this session, which keeps its working directory; any name will do")
    .option("--save <file>", "write the output or the image to a file")
    .option("--json", "print the whole answer as one JSON object")
    .addHelpText(
      "after",
      `
A pipe or a file gets all of the output, byte for byte: of a command, an image, or a file read with raw=true.
Tools name their own parameters: timeout=5000 (Bash) is in milliseconds, --timeout 5 in seconds.

Exit codes: a command's own, if one ran. Otherwise 1 the tool failed, 64 wrong input, 65 conflict or too large, 66 not
found, 68 unknown device, 69 device or relay unreachable, 70 internal error, 74 output lost, 75 try again later,
77 not allowed, 124 timed out, 130 cancelled. To tell them from a command's own, use matrx run.

Examples:
  matrx call laptop SystemInfo
  matrx call laptop bash command='ls -la' timeout=5000
  matrx call laptop Read '{"file_path":"/etc/hosts"}' --json
  matrx call laptop Read file_path=/etc/hosts raw=true > hosts
  matrx call laptop bash command='cd /srv' --session work
  echo '{"file_path":"notes.txt","content":"hello"}' | matrx call laptop Write --stdin`,
    )
    .action((device: string | undefined, tool: string | undefined, input: string[], options: CallOptions) =>
      call(
        readWords(
          [device, tool, ...input].filter((word) => word !== undefined),
          USAGE,
        ),
        options,
      ),
    );
}

const USAGE = "matrx call [DEVICE] TOOL [INPUT...]";

async function call({ device: wanted, tool, input: words }: Words, options: CallOptions): Promise<void> {
  const stop = stopSignal();
  const client = callerOf(options);
  const device = await withProgress("Contacting the relay", findDevice(client, wanted));
  const input = await readInput(words, options.stdin ?? false, () => inputSchema(client, device, tool));
  const isRead = effectOfCall(toolNameOf(tool), () => input) === "read";
  const isPiped = (!process.stdout.isTTY || options.save !== undefined) && !options.json;
  const isBase64 = isPiped && wantsFile(tool, input);
  const key = options.idempotencyKey ?? (isRead ? undefined : crypto.randomUUID());
  if (key !== undefined && key.length > LIMITS.idempotencyKeyChars) {
    throw usageError("--idempotency-key is too long", `Use at most ${LIMITS.idempotencyKeyChars} characters`);
  }
  const toMake: CallToMake = {
    ...{ device, tool, stop, key, timeoutMs: milliseconds(options.timeout) },
    session: options.session === undefined ? undefined : sessionNamed(options.session),
    input: isBase64 ? { ...input, ...FILE_BYTES } : input,
  };
  const stream = (options.stream ?? process.stdout.isTTY) && !options.json && options.save === undefined;
  const live = stream && !options.rest ? (isPiped ? new LiveInPipe() : new LiveOnTerminal()) : undefined;
  const work = options.rest ? callByRest(client, toMake) : callBySocket(client, toMake, live);
  const made = live ? await work : await withProgress(`Running ${tool}`, work);
  const nextPage = asksForPage(input) ? undefined : (cursor: Input) => readNext(client, toMake, cursor);
  await endCall(made, { client, device, tool, isBase64, nextPage }, options);
}

interface CallToMake {
  readonly device: string;
  readonly tool: string;
  readonly input: Input;
  readonly timeoutMs: number | undefined;
  /** The idempotency key, by which a lost answer can be requested again. */
  readonly key: string | undefined;
  readonly session: string | undefined;
  readonly stop: AbortSignal;
}

/** Its output can be shown live, and Ctrl-C cancels it. Throws MatrxError. */
async function callBySocket(client: RelayClient, toMake: CallToMake, live?: LiveOutput): Promise<MadeCall> {
  const { tool, input, session, timeoutMs, key, stop } = toMake;
  const remote = deviceBySocket(client, toMake.device, session === "new" ? undefined : session);
  try {
    const end = await remote.make(tool, input, {
      ...{ timeoutMs, idempotencyKey: key, signal: stop, rateWaitMs: 0 },
      ...(live && { onEvent: (event) => show(live, event) }),
    });
    return { answer: answerOf(end, key), live, session: session && remote.session };
  } catch (error) {
    throw withFlag(error, key);
  } finally {
    live?.end();
    remote.close();
  }
}

/** Ctrl-C leaves it running. Throws MatrxError. */
async function callByRest(client: RelayClient, toMake: CallToMake): Promise<MadeCall> {
  const { tool, input, session, timeoutMs, key, stop } = toMake;
  const remote = deviceByRest(client, toMake.device, session);
  try {
    const end = await remote.make(tool, input, {
      ...{ timeoutMs, idempotencyKey: key, leave: stop, rateWaitMs: 0 },
    });
    return { answer: answerOf(end, key), session: remote.session };
  } catch (error) {
    throw withFlag(error, key);
  } finally {
    remote.close();
  }
}

function show(live: LiveOutput, event: CallEvent): void {
  if (event.type === "output") live.show(event.channel, event.offset, event.data);
  else if (event.type === "gap") live.gap();
  else if (event.type === "progress") live.progress(event);
}

function answerOf(end: CallEnd, key: string | undefined): Answer {
  if (end.kind === "answer") return end.answer;
  throw callerError("CANCELLED", "Stopped waiting; the call may still be running", {
    hint: key === undefined ? "" : repeatedWith(key),
  });
}

/** As it is said on the command line. */
function withFlag(error: unknown, key: string | undefined): unknown {
  if (!(error instanceof MatrxError) || error.hop !== "caller" || !error.details) return error;
  const { details: _, ...shape } = error.shape();
  return new MatrxError({ ...shape, ...(key !== undefined && { hint: repeatedWith(key) }) });
}

function repeatedWith(key: string): string {
  return `To get its outcome, repeat the call with --idempotency-key ${key}`;
}

/** Makes the same call for the next page; only reading tools have pages. */
async function readNext(client: RelayClient, toMake: CallToMake, cursor: Input): Promise<Answer> {
  const { answer } = await callByRest(client, { ...toMake, input: { ...toMake.input, ...cursor } });
  return answer;
}

async function inputSchema(client: RelayClient, device: string, tool: string): Promise<unknown> {
  const { tools } = await client.get(pathOf("v1", "devices", device, "tools"), deviceToolsSchema);
  return tools.find((candidate) => candidate.name === tool)?.input_schema;
}

function milliseconds(seconds: string | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  const time = Math.round(Number(seconds) * 1000);
  if (time >= 1 && time <= TIMES.callMax) return time;
  throw usageError(`--timeout: "${seconds}" is not a time`, `Give seconds, at most ${TIMES.callMax / 1000}`);
}
