/** Pictures as models take them: one that a model's API refuses would end the whole conversation. */
import { createRequire } from "node:module";
import path from "node:path";
import { FairMutex } from "@matrx/shared/mutex.ts";
import { bareEnvironment } from "../platform/environment.ts";
import { ProgramFailed, runProgram } from "../platform/run-program.ts";
import type { PictureJob, PictureWords, Size } from "./picture-program.ts";

export interface Format extends Size {
  readonly mediaType: string;
}

export interface ModelPicture {
  /** What it is, whatever its name says. */
  readonly original: Format;
  /** What models take: the original itself, or a picture made from it. */
  readonly shown: Format & { readonly bytes: Buffer };
  readonly isOriginal: boolean;
}

/** It cannot be shown to a model; the message says why, for people. */
export class PictureFailed extends Error {
  override readonly name = "PictureFailed";
  readonly reason: "damaged" | "kind" | "limits";

  constructor(reason: PictureFailed["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

const MiB = 1024 * 1024;
/** Of a picture that is to be shown. */
export const PICTURE_MOST_BYTES = 64 * MiB;
/** Of one that is shown as it is: less than 5 MB as base64. */
export const SHOWN_MOST_BYTES = 3_700_000;

const PAGE_BYTES = 64 * 1024;
const MOST_SIDE = 1568;
const LIMITS = { mostPixels: 64_000_000, mostMemory: 1024 * MiB, mostMs: 30_000 };

const { resolve } = createRequire(import.meta.url);
const PROGRAM = resolve("#picture-program");
const WASM = resolve("#picture-wasm");

/** One program at a time: each may take 1 GiB. */
const mutex = new FairMutex();

/** Who wants a picture, and until when. */
export interface PictureCall {
  readonly grant: { readonly id: string };
  readonly signal: AbortSignal;
}

/** `read` is called when its turn has come. Throws PictureFailed, or the signal's reason. */
export function pictureForModel(
  read: () => Buffer | Promise<Buffer>,
  { grant, signal }: PictureCall,
  limits = LIMITS,
): Promise<ModelPicture> {
  return mutex.runExclusive(grant.id, async () => {
    signal.throwIfAborted();
    return decoded(await read(), signal, limits);
  });
}

async function decoded(input: Buffer, signal: AbortSignal, limits: typeof LIMITS): Promise<ModelPicture> {
  const { mostMs, mostPixels, mostMemory } = limits;
  const job = { wasm: WASM, mostSide: MOST_SIDE, mostBytes: SHOWN_MOST_BYTES, mostPixels, mostMemory };
  const { stdout } = await runProgram(process.execPath, argumentsFor(job), {
    timeoutMs: mostMs,
    env: bareEnvironment(),
    input,
    signal,
  }).catch((error: unknown) => {
    throw error instanceof ProgramFailed ? new PictureFailed("limits", error.message) : error;
  });
  const end = stdout.indexOf("\n");
  const words: PictureWords = JSON.parse(stdout.toString("utf8", 0, end));
  if ("failed" in words) throw failureOf(words, limits);
  const original = formatOf(words);
  if (!words.shown) return { original, shown: { ...original, bytes: input }, isOriginal: true };
  const shown = { ...formatOf(words.shown), bytes: stdout.subarray(end + 1) };
  return { original, shown, isOriginal: false };
}

function formatOf({ width, height, format }: Size & { readonly format: string }): Format {
  return { width, height, mediaType: `image/${format}` };
}

/** It may read itself and its libraries, and start nothing; its memory is bounded. */
function argumentsFor(job: PictureJob): string[] {
  const folders = [path.dirname(PROGRAM), librariesOf(WASM)];
  return [
    "--permission",
    ...folders.map((folder) => `--allow-fs-read=${folder}${path.sep}*`),
    `--wasm-max-mem-pages=${Math.ceil(job.mostMemory / PAGE_BYTES)}`,
    "--max-old-space-size=256",
    "--no-warnings",
    PROGRAM,
    JSON.stringify(job),
  ];
}

/** The folder of all libraries in a clone; in the package they are in the program's own files. */
function librariesOf(wasm: string): string {
  const folder = path.dirname(wasm);
  return folder === path.dirname(PROGRAM)
    ? folder
    : wasm.slice(0, wasm.lastIndexOf(`${path.sep}@cf-wasm${path.sep}`));
}

function failureOf(words: Extract<PictureWords, { failed: string }>, { mostPixels }: typeof LIMITS) {
  if (words.failed === "damaged")
    return new PictureFailed("damaged", "it is damaged or incomplete: it can't be decoded");
  const { format, width, height } = words;
  if (words.failed === "kind") return new PictureFailed("kind", `${format} can't be shown to models`);
  const most = mostPixels / 1_000_000;
  return new PictureFailed(
    "limits",
    `it is ${width}x${height}: more than ${most} megapixels can't be decoded here`,
  );
}
