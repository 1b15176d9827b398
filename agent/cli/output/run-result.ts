/** The output of `matrx run`: as it is, or in one JSON object. */
import { StringDecoder } from "node:string_decoder";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import { jsonText } from "./print.ts";
import { write } from "./reader.ts";

export interface RunResult {
  write(bytes: Uint8Array): Promise<void>;
  /** `exit` is null if the program's exit code is not known; `error` says why. */
  end(exit: number | null, error?: ErrorShape): Promise<void>;
}

export class PlainResult implements RunResult {
  write(bytes: Uint8Array): Promise<void> {
    return write(process.stdout, bytes);
  }

  async end(): Promise<void> {}
}

/** `{"device":...,"job":...,"output":"...","exit_code":0}`, written piece by piece, because the output may be long. */
export class JsonResult implements RunResult {
  readonly #decoder = new StringDecoder("utf8");
  #begin: string;

  constructor(facts: { device: string; job: string }) {
    this.#begin = `${jsonText(facts).slice(0, -1)},"output":"`;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#writeText(this.#decoder.write(bytes));
  }

  async end(exit: number | null, error?: ErrorShape): Promise<void> {
    await this.#writeText(this.#decoder.end());
    const rest = jsonText({ exit_code: exit, ...(error && { error }) });
    await write(process.stdout, `",${rest.slice(1)}\n`);
  }

  async #writeText(text: string): Promise<void> {
    await write(process.stdout, this.#begin + jsonText(text).slice(1, -1));
    this.#begin = "";
  }
}
