/** `matrx call`: runs one tool on one device. */
import { deviceToolsSchema } from "@matrx/shared/api.ts";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import { effectOfCall, toolNameOf } from "@matrx/shared/effects.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import type { Command } from "commander";
import { type CallToMake, callByRest } from "../client/call-by-rest.ts";
import { callBySocket } from "../client/call-by-socket.ts";
import { readInput } from "../client/call-input.ts";
import { type CallerOptions, callerOf, relayOption, tokenFileOption } from "../client/credentials.ts";
import { findDevice } from "../client/find-device.ts";
import { sessionNamed } from "../client/names.ts";
import { pathOf, type RelayClient } from "../client/relay-client.ts";
import { readWords, type Words } from "../client/words.ts";
import { usageError } from "../output/failure.ts";
import { LiveInPipe, LiveOnTerminal } from "../output/live-output.ts";
import { endCall } from "../output/print-answer.ts";
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
  const toMake: CallToMake = {
    ...{ device, tool, stop, timeoutMs: milliseconds(options.timeout) },
    session: options.session === undefined ? undefined : sessionNamed(options.session),
    input: isBase64 ? { ...input, ...FILE_BYTES } : input,
    key: options.idempotencyKey ?? (isRead ? undefined : crypto.randomUUID()),
  };
  if (toMake.key !== undefined && toMake.key.length > LIMITS.idempotencyKeyChars) {
    throw usageError("--idempotency-key is too long", `Use at most ${LIMITS.idempotencyKeyChars} characters`);
  }
  const stream = (options.stream ?? process.stdout.isTTY) && !options.json && options.save === undefined;
  const live = stream && !options.rest ? (isPiped ? new LiveInPipe() : new LiveOnTerminal()) : undefined;
  const work = options.rest ? callByRest(client, toMake) : callBySocket(client, toMake, live);
  const made = live ? await work : await withProgress(`Running ${tool}`, work);
  const nextPage = asksForPage(input) ? undefined : (cursor: Input) => readNext(client, toMake, cursor);
  await endCall(made, { client, device, tool, isBase64, nextPage }, options);
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
