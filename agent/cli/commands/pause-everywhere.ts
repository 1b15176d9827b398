/** `matrx pause --everywhere` and `matrx resume --everywhere`: AI grants on all devices of the account, at the relay. */
import { type PauseView, pauseViewSchema } from "@matrx/shared/pause-api.ts";
import { type CallerOptions, callerOf } from "../client/credentials.ts";
import { note, printJson } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { asTyped } from "../program-name.ts";

interface EverywhereOptions extends CallerOptions {
  json?: boolean;
}

/** Ends all that AI grants do. */
export async function pauseEverywhere(options: EverywhereOptions): Promise<void> {
  const pause = await withProgress("Stopping everything", setPaused(true, options));
  if (options.json) return printJson(pause);
  console.log(
    "Stopped: AI grants can do nothing on any of your devices. What runs on a machine that can't be reached ends once it can.",
  );
  noteUntold(pause);
  note(asTyped("To let them act again: matrx resume --everywhere"));
}

/** Lets AI grants act again. */
export async function resumeEverywhere(options: EverywhereOptions): Promise<void> {
  const pause = await withProgress("Resuming", setPaused(false, options));
  if (options.json) return printJson(pause);
  console.log("AI grants may act again on your devices, each as far as it may.");
  noteUntold(pause);
  note("A device that was paused at the device itself stays so: run there matrx resume.");
}

function setPaused(paused: boolean, options: EverywhereOptions): Promise<PauseView> {
  return callerOf(options).post("/v1/pause", pauseViewSchema, { paused });
}

function noteUntold({ devices, devices_told }: PauseView): void {
  const untold = devices - devices_told;
  if (untold > 0)
    note(`${untold} of ${devices} devices could not be told yet; the relay goes on until they are.`);
}
