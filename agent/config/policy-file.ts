/** `policy.json`: what the owner of this machine allows, whatever the relay says. A damaged file allows nothing. */
import { statSync } from "node:fs";
import { agentError, MatrxError } from "@matrx/shared/errors.ts";
import { type Policy, policySchema, policyWarnings } from "@matrx/shared/policy.ts";
import type { Logger } from "pino";
import { readJsonFile } from "../platform/private-file.ts";
import type { Home } from "./app-dirs.ts";

/** A changed file is noticed within this time, in milliseconds. */
const LOOK_EVERY = 1000;

export class PolicyFile {
  readonly #path: string;
  #policy: Policy | MatrxError;
  #stamp: string;
  #lookedAt: number;

  constructor(home: Pick<Home, "policyFile">) {
    this.#path = home.policyFile;
    this.#stamp = this.#readStamp();
    this.#lookedAt = performance.now();
    this.#policy = this.#read();
  }

  /** A warning for each allowed tool that is neither built in nor among `announced`. */
  warnings(announced: readonly string[]): string[] {
    return this.#policy instanceof MatrxError ? [] : policyWarnings(this.#policy, announced);
  }

  /** Logs a warning for each allowed tool that this device does not have. */
  warn(tools: readonly { name: string }[], log: Logger): void {
    const names = tools.map(({ name }) => name);
    for (const warning of this.warnings(names)) log.warn({ file: this.#path }, warning);
  }

  /** The current policy; without a file nothing is limited. Throws MatrxError `PERMISSION_DENIED` if the file is damaged. */
  current(): Policy {
    this.#look();
    if (this.#policy instanceof MatrxError) throw this.#policy;
    return this.#policy;
  }

  /** Reads the file again, now. */
  reload(): void {
    this.#stamp = this.#readStamp();
    this.#policy = this.#read();
  }

  #look(): void {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_EVERY) return;
    this.#lookedAt = now;
    if (this.#readStamp() !== this.#stamp) this.reload();
  }

  #read(): Policy | MatrxError {
    try {
      return readJsonFile(this.#path, policySchema) ?? {};
    } catch (cause) {
      const why = cause instanceof MatrxError ? cause.message : "policy.json cannot be read";
      return agentError(
        "PERMISSION_DENIED",
        `All calls are refused because the device's policy is damaged: ${why}`,
        {
          hint: "Correct policy.json in the agent's configuration folder, or delete it to remove its limits",
          cause,
        },
      );
    }
  }

  #readStamp(): string {
    try {
      const stat = statSync(this.#path, { throwIfNoEntry: false, bigint: true });
      return stat ? `${stat.ino} ${stat.size} ${stat.mtimeNs}` : "none";
    } catch {
      // Reading it says why.
      return "unreadable";
    }
  }
}
