/** `matrx call`: runs one tool on one device. */

import { deviceToolsSchema } from "@matrx/shared/api.ts";
import type { Answer } from "@matrx/shared/caller-frames.ts";
import { effectOf, toolNameOf } from "@matrx/shared/effects.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import type { Command } from "commander";
import { callByRest } from "./call-by-rest.ts";
import { callBySocket } from "./call-by-socket.ts";
import { readInput } from "./call-input.ts";
import { type CallerOptions, callerOf, relayOption, tokenFileOption } from "./credentials.ts";
import { wrongUse } from "./failure.ts";
import { findDevice } from "./find-device.ts";
import { LiveInPipe, LiveOnTerminal } from "./live-output.ts";
import type { CallToMake } from "./made-call.ts";
import { endCall } from "./print-answer.ts";
import { withProgress } from "./progress.ts";
import { pathOf, type RelayClient } from "./relay-client.ts";
import { stopSignal } from "./stop-signal.ts";
import { asksForPage, FILE_BYTES, wantsFile } from "./whole-output.ts";

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
    .argument("<device>", "id, name, or the beginning of one")
    .argument("<tool>", "its name (matrx tools DEVICE lists them)")
    .argument("[input...]", "one JSON object, or key=value ...")
    .addOption(relayOption)
    .addOption(tokenFileOption)
    .option("--stdin", "read the input, a JSON object, from stdin")
    .option("--stream", "show output while it comes (default on a terminal)")
    .option("--no-stream", "show output at the end")
    .option("--rest", "call by REST instead of a WebSocket; Ctrl-C then leaves the call running")
    .option("--timeout <seconds>", "stop the call after this time")
    .option("--idempotency-key <key>", "run at most once under this key")
    .option("--session <id>", "the session to call in; `new` makes one and names it on stderr")
    .option("--save <file>", "write output or image to a file")
    .option("--json", "print the whole answer as JSON")
    .addHelpText(
      "after",
      `
The exit code of a command is passed on.

Examples:
  matrx call laptop SystemInfo
  matrx call laptop Bash command='ls -la' timeout=5000
  matrx call laptop Read '{"file_path":"/etc/hosts"}' --json
  echo '{"file_path":"notes.txt","content":"hello"}' | matrx call laptop Write --stdin`,
    )
    .action(call);
}

async function call(wanted: string, name: string, words: string[], options: CallOptions): Promise<void> {
  const stop = stopSignal();
  const client = callerOf(options);
  const device = await withProgress("Asking the relay", findDevice(client, wanted));
  const tool = toolNameOf(name);
  const input = await readInput(words, options.stdin ?? false, () => inputSchema(client, device, tool));
  const isPiped = (!process.stdout.isTTY || options.save !== undefined) && !options.json;
  const isBase64 = isPiped && wantsFile(tool, input);
  const toMake: CallToMake = {
    ...{ device, tool, stop, session: options.session, timeoutMs: milliseconds(options.timeout) },
    input: isBase64 ? { ...input, ...FILE_BYTES } : input,
    key: options.idempotencyKey ?? (effectOf(tool) === "read" ? undefined : crypto.randomUUID()),
  };
  if (toMake.key !== undefined && toMake.key.length > LIMITS.idempotencyKeyChars) {
    throw wrongUse("--idempotency-key is too long", `Use at most ${LIMITS.idempotencyKeyChars} characters`);
  }
  const stream = (options.stream ?? process.stdout.isTTY) && !options.json && options.save === undefined;
  const live = stream && !options.rest ? (isPiped ? new LiveInPipe() : new LiveOnTerminal()) : undefined;
  const work = options.rest ? callByRest(client, toMake) : callBySocket(client, toMake, live);
  const made = live ? await work : await withProgress(`Running ${tool}`, work);
  const nextPage = asksForPage(input) ? undefined : (cursor: Input) => readOn(client, toMake, cursor);
  await endCall(made, { client, device, tool, isBase64, nextPage }, options);
}

/** The same call for another page; only what reads has pages. */
async function readOn(client: RelayClient, toMake: CallToMake, cursor: Input): Promise<Answer> {
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
  throw wrongUse(`--timeout: "${seconds}" is not a time`, `Give seconds, at most ${TIMES.callMax / 1000}`);
}
