/** The device's own policy changes while calls run: what it no longer allows ends, as when the relay's is narrowed. */
import { policyNarrowsCommands } from "@matrx/shared/policy.ts";
import type { Logger } from "pino";
import type { PolicyFile } from "../config/policy-file.ts";
import type { Dispatcher } from "../core/dispatcher.ts";

export interface NarrowedPolicyOptions {
  readonly file: PolicyFile;
  readonly dispatcher: Pick<Dispatcher, "stopRefused" | "stopUnbegun">;
  /** Stops the jobs and terminals of every caller: the policy binds all of them. */
  readonly stopJobs: () => Promise<unknown>;
  readonly log: Logger;
}

/** A change to the file is noticed within this time, in milliseconds. */
const LOOK_EVERY = 1000;

/** Obeys the file until the function that it returns is called. */
export function endWhatPolicyEnds({ file, dispatcher, stopJobs, log }: NarrowedPolicyOptions): () => void {
  const stopCommands = async () => {
    await stopJobs();
    // A stopped call may have been about to start one.
    await stopJobs();
  };
  const forget = file.onChange((now, former) => {
    log.info("the device's policy has changed");
    dispatcher.stopRefused();
    if (!policyNarrowsCommands(former, now)) return;
    dispatcher.stopUnbegun();
    stopCommands().catch((err) => log.error({ err }, "a narrowed policy could not stop all that ran"));
  });
  const timer = setInterval(() => file.look(), LOOK_EVERY).unref();
  return () => {
    clearInterval(timer);
    forget();
  };
}
