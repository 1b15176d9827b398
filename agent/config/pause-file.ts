/** `pause.json`: whom this machine is closed to. If damaged, it is closed to everyone. */
import { unlinkSync } from "node:fs";
import { type Paused, pausedSchema } from "@matrx/shared/paused.ts";
import * as z from "zod";
import {
  fileStamp,
  inPlainWords,
  isNodeError,
  readJsonFile,
  writePrivateFile,
} from "../platform/private-file.ts";
import type { Home } from "./app-dirs.ts";

const fileSchema = z.strictObject({
  paused: pausedSchema,
  /** ISO 8601. */
  since: z.string(),
});

export class PauseFile {
  readonly path: string;
  #stamp: string;
  #paused: Paused | undefined;
  #damage: string | undefined;

  constructor({ pauseFile }: Pick<Home, "pauseFile">) {
    this.path = pauseFile;
    this.#stamp = fileStamp(this.path);
    this.#paused = this.#read();
  }

  /** Whom the machine is closed to; undefined if to nobody. */
  get current(): Paused | undefined {
    return this.#paused;
  }

  /** What is wrong with the file, if anything: then the machine is closed to everyone. */
  get damage(): string | undefined {
    return this.#damage;
  }

  /** Reads the file again if it has changed. */
  look(): void {
    const stamp = fileStamp(this.path);
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    this.#paused = this.#read();
  }

  /** Closes the machine at once, even if the file cannot be written. Never opens what was closed. Throws MatrxError. */
  pause(paused: Paused): void {
    this.look();
    this.#paused = this.#paused === "everyone" ? "everyone" : paused;
    if (this.#read() === this.#paused) return;
    const since = new Date().toISOString();
    writePrivateFile(
      this.path,
      `${JSON.stringify({ paused: this.#paused, since } satisfies z.infer<typeof fileSchema>)}\n`,
    );
    this.#stamp = fileStamp(this.path);
  }

  /** Opens the machine. Throws MatrxError if the file cannot be deleted. */
  resume(): void {
    try {
      unlinkSync(this.path);
    } catch (error) {
      if (!isNodeError(error, "ENOENT")) throw inPlainWords(error);
    }
    this.#stamp = fileStamp(this.path);
    this.#paused = undefined;
    this.#damage = undefined;
  }

  #read(): Paused | undefined {
    this.#damage = undefined;
    try {
      return readJsonFile(this.path, fileSchema)?.paused;
    } catch (error) {
      this.#damage = error instanceof Error ? error.message : "it cannot be read";
      return "everyone";
    }
  }
}
