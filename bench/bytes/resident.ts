/** The resident memory of a process, now and at most since it was last asked to forget (Linux), in MiB. */
import { readFileSync, writeFileSync } from "node:fs";

export class Resident {
  readonly #pid: number;

  constructor(pid: number) {
    this.#pid = pid;
  }

  get now(): number {
    return this.#read("VmRSS");
  }

  get peak(): number {
    return this.#read("VmHWM");
  }

  /** From now on `peak` counts anew. */
  forget(): void {
    writeFileSync(`/proc/${this.#pid}/clear_refs`, "5");
  }

  #read(name: string): number {
    const status = readFileSync(`/proc/${this.#pid}/status`, "utf8");
    return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]) / 1024;
  }
}
