/** A command on a device: starts it, follows its output, gets its exit code, and stops it. */
import { setTimeout as sleep } from "node:timers/promises";
import { pathOf, type RelayClient } from "@matrx/client/http/relay-client.ts";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import * as z from "zod";
import { JobReader } from "../output/job-output.ts";
import { INEXACT, OutputLost, textBytes } from "../output/whole-output.ts";
import { deviceBySocket } from "./device.ts";

/** A command that takes longer than this is followed; a shorter one ends in the first answer. In milliseconds. */
const ANSWERS_WITHIN = 200;
/** How long one request waits for new output, in milliseconds. */
const WAIT = 25_000;
/** Minimum interval between requests for small pieces, in milliseconds: an owner may make 1,200 calls a minute. */
const POLL_EVERY = 100;
const STOPS_WITHIN = 10_000;

const startedSchema = z.looseObject({
  bash_id: z.string(),
  status: z.string(),
  exit_code: z.number().nullable(),
  end_offset: z.number(),
});

export interface JobToStart {
  readonly device: string;
  readonly command: string;
  readonly stdin: Buffer | undefined;
  readonly session: string | undefined;
}

export class RemoteJob {
  readonly id: string;
  readonly #client: RelayClient;
  readonly #device: string;
  readonly #answer: Answer;
  readonly #started: z.infer<typeof startedSchema>;
  #offset = 0;
  #exit: number | null | undefined;

  private constructor(client: RelayClient, device: string, answer: Answer) {
    this.#client = client;
    this.#device = device;
    this.#answer = answer;
    this.#started = startedSchema.parse(answer.metadata);
    this.id = this.#started.bash_id;
  }

  /** Throws MatrxError if the device did not start it. */
  static async start(client: RelayClient, wanted: JobToStart, stop: AbortSignal): Promise<RemoteJob> {
    const { device, command, stdin, session } = wanted;
    const input = {
      ...{ command, yield_ms: ANSWERS_WITHIN },
      ...(stdin && { stdin_base64: stdin.toString("base64") }),
    };
    const remote = deviceBySocket(client, device, session);
    try {
      const answer = await remote.call("Bash", input, { signal: stop });
      return new RemoteJob(client, device, answer);
    } finally {
      remote.close();
    }
  }

  /** The command's exit code, once `output` has been read to its end; null if it left none. */
  get exit(): number | null | undefined {
    return this.#exit;
  }

  /** Its output until it ends, from where the last reader stopped. Throws MatrxError, or OutputLost at the end. */
  async *output(stop?: AbortSignal): AsyncGenerator<Uint8Array> {
    const { status, end_offset, exit_code } = this.#started;
    const short = status === "running" ? undefined : textBytes(this.#answer, end_offset);
    if (short && this.#offset === 0) {
      this.#offset = end_offset;
      this.#exit = exit_code;
      return yield short;
    }
    yield* this.#follow(stop);
  }

  /** Stops it and every process that it started. Throws MatrxError. */
  async stop(): Promise<void> {
    await this.#client.send("POST", pathOf("v1", "devices", this.#device, "tools", "TaskStop"), {
      body: { task_id: this.id },
      headers: { "Idempotency-Key": crypto.randomUUID() },
      timeoutMs: STOPS_WITHIN,
    });
  }

  async *#follow(stop: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    const reader = new JobReader(this.#client, this.#device, this.id);
    let lost = 0;
    let isExact = true;
    for (let running = true; running; ) {
      const asked = performance.now();
      const page = await reader.read(this.#offset, WAIT, stop);
      this.#offset = page.end;
      lost += page.lost;
      isExact &&= page.isExact;
      if (page.bytes.length > 0) yield page.bytes;
      running = page.isRunning || page.more;
      this.#exit = page.exit;
      const pause = page.more || !running ? 0 : asked + POLL_EVERY - performance.now();
      if (pause > 0) await sleep(pause, undefined, stop && { signal: stop });
    }
    if (lost > 0) throw new OutputLost(`${lost} bytes were cut on the device, before they were fetched`);
    if (!isExact) throw new OutputLost(INEXACT);
  }
}
