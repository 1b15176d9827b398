/** `policy.json`: what the owner of this machine allows, whatever the relay says. If damaged, nothing is allowed. */
import { lstatSync, statSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { agentError, MatrxError } from "@matrx/shared/errors.ts";
import { type Policy, policySchema, policyWarnings } from "@matrx/shared/policy.ts";
import type { Logger } from "pino";
import { fileStamp, readJsonFile } from "../platform/private-file.ts";
import type { Home } from "./app-dirs.ts";

/** A change to the file is noticed within this time, in milliseconds. */
const LOOK_EVERY = 1000;
const MOST_BYTES = 1024 * 1024;

export class PolicyFile {
  readonly #path: string;
  #policy: Policy | MatrxError;
  /** The latest that was not damaged. */
  #sound: Policy | undefined;
  #stamp: string;
  #lookedAt: number;
  readonly #listeners = new Set<(now: Policy, former: Policy) => void>();

  constructor(home: Pick<Home, "policyFile">) {
    this.#path = home.policyFile;
    this.#stamp = fileStamp(this.#path);
    this.#lookedAt = performance.now();
    this.#policy = this.#read();
    if (!(this.#policy instanceof MatrxError)) this.#sound = this.#policy;
  }

  /** A warning for each allowed tool that is neither built in nor in `announced`. */
  warnings(announced: readonly string[]): string[] {
    return this.#policy instanceof MatrxError ? [] : policyWarnings(this.#policy, announced);
  }

  /** Logs a warning for each allowed tool that this device does not have. */
  warn(tools: readonly { name: string }[], log: Logger): void {
    const names = tools.map(({ name }) => name);
    for (const warning of this.warnings(names)) log.warn({ file: this.#path }, warning);
  }

  /** The policy in force; without a file there are no limits. Throws MatrxError `PERMISSION_DENIED` while the file is damaged. */
  current(): Policy {
    if (performance.now() - this.#lookedAt >= LOOK_EVERY) this.look();
    if (this.#policy instanceof MatrxError) throw this.#policy;
    return this.#policy;
  }

  /** Calls the listener when another policy is in force; a damaged file is none. Returns a function that unsubscribes. */
  onChange(listener: (now: Policy, former: Policy) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Reads the file again at once. */
  reload(): void {
    this.#stamp = fileStamp(this.#path);
    this.#policy = this.#read();
    if (this.#policy instanceof MatrxError) return;
    const [now, former] = [this.#policy, this.#sound];
    this.#sound = now;
    if (former && !isDeepStrictEqual(now, former))
      for (const listener of this.#listeners) listener(now, former);
  }

  /** Reads the file again if it has changed. */
  look(): void {
    this.#lookedAt = performance.now();
    if (fileStamp(this.#path) !== this.#stamp) this.reload();
  }

  #read(): Policy | MatrxError {
    try {
      if (!this.#stands()) return {};
      const policy = readJsonFile(this.#path, policySchema);
      if (policy) return policy;
      throw damaged("it is a link to nothing");
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

  /** Whether there is a file. Throws for anything else in its place: reading a pipe, or what is too large, would block. */
  #stands(): boolean {
    if (!lstatSync(this.#path, { throwIfNoEntry: false })) return false;
    const stat = statSync(this.#path, { throwIfNoEntry: false });
    if (stat && !stat.isFile()) throw damaged("policy.json is not a file");
    if (stat && stat.size > MOST_BYTES) throw damaged(`policy.json has more than ${MOST_BYTES} bytes`);
    return true;
  }
}

function damaged(why: string): MatrxError {
  return agentError("INVALID_PARAMETERS", why);
}
