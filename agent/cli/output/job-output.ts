/** Reads a command's output byte for byte, page by page, from the job's log on the device. */
import { setTimeout as sleep } from "node:timers/promises";
import { pathOf, type RelayClient } from "@matrx/client/http/relay-client.ts";
import { answerSchema } from "@matrx/shared/caller/to-caller.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { retryAfterMsOf } from "@matrx/shared/retry.ts";
import * as z from "zod";

/** How many bytes to request at once. */
const PAGE_BYTES = 512 * 1024;
/** How long to try again while the device or relay is unreachable, in milliseconds. */
const PATIENCE = 60_000;
const AGAIN_AFTER = 1000;

const metadataSchema = z.looseObject({
  status: z.string(),
  exit_code: z.number().nullable(),
  start_offset: z.number(),
  end_offset: z.number(),
  more: z.boolean(),
  encoding: z.literal("base64").optional(),
  ends_mid_line: z.boolean().optional(),
});

export interface JobPage {
  readonly bytes: Buffer;
  /** Offset after the last byte: where the next page begins. */
  readonly end: number;
  /** Bytes before this page that were cut from the log. */
  readonly lost: number;
  /** False if an older agent returned text, in which bytes that are not UTF-8 were replaced. */
  readonly isExact: boolean;
  readonly more: boolean;
  readonly isRunning: boolean;
  /** Undefined while it is running; null if it left no exit code. */
  readonly exit: number | null | undefined;
}

export class JobReader {
  readonly #client: RelayClient;
  readonly #path: string;
  readonly #job: string;
  /** Undefined for an older agent, which returns only text. */
  #encoding: { encoding: "base64"; byte_limit: number } | undefined = {
    encoding: "base64",
    byte_limit: PAGE_BYTES,
  };

  constructor(client: RelayClient, device: string, job: string) {
    this.#client = client;
    this.#path = pathOf("v1", "devices", device, "tools", "BashOutput");
    this.#job = job;
  }

  /** The page at an offset. Waits up to `waitMs` for new output, and tries again during outages. Throws MatrxError. */
  async read(offset: number, waitMs: number, stop?: AbortSignal): Promise<JobPage> {
    let failing: number | undefined;
    for (;;) {
      try {
        return await this.#ask(offset, waitMs, stop);
      } catch (error) {
        if (!(error instanceof MatrxError)) throw error;
        if (this.#encoding && error.code === "INVALID_PARAMETERS" && error.message.includes("encoding")) {
          this.#encoding = undefined;
          continue;
        }
        failing ??= performance.now();
        const isPassing = ["UNAVAILABLE", "DEVICE_OFFLINE", "TIMEOUT"].includes(error.code);
        const mayPass = isPassing && performance.now() - failing < PATIENCE;
        if (!mayPass && error.code !== "RATE_LIMITED") throw error;
        const wait = retryAfterMsOf(error.details) ?? AGAIN_AFTER;
        await sleep(wait, undefined, stop && { signal: stop });
      }
    }
  }

  async #ask(offset: number, waitMs: number, stop: AbortSignal | undefined): Promise<JobPage> {
    const { body } = await this.#client.send("POST", this.#path, {
      body: { bash_id: this.#job, offset, wait_ms: waitMs, ...this.#encoding },
      timeoutMs: waitMs + 20_000,
      ...(stop && { signal: stop }),
    });
    return pageOf(body, offset);
  }
}

function pageOf(body: unknown, offset: number): JobPage {
  const { output, metadata } = answerSchema.parse(body);
  const { status, exit_code, start_offset, end_offset, more, encoding, ends_mid_line } =
    metadataSchema.parse(metadata);
  const isRunning = status === "running";
  const facts = { end: end_offset, lost: Math.max(0, start_offset - offset), more, isRunning };
  const exit = isRunning ? undefined : exit_code;
  if (encoding) return { ...facts, exit, bytes: Buffer.from(output, "base64"), isExact: true };
  const bytes = textOf(output, ends_mid_line ?? false);
  const isExact = bytes.length === end_offset - start_offset && !output.includes("\u{fffd}");
  return { ...facts, exit, bytes, isExact };
}

/** The command's own output, without the note at the end and the one about a gap. */
function textOf(output: string, endsMidLine: boolean): Buffer {
  const text = output.replace(/^\[\d+ bytes were cut[^\n]*\]\n/, "").replace(/\[[^\n]*\]$/, "");
  return Buffer.from(endsMidLine ? text.slice(0, -1) : text);
}
