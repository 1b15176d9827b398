/** Control of the running agent by its user on this machine: watching what callers do, and pausing. */
import type { Logger } from "pino";
import type { Activity } from "../core/activity.ts";
import { activityRoutes } from "./activity-routes.ts";
import type { ControlName } from "./endpoint.ts";
import { pauseRoutes } from "./pause-routes.ts";
import { Pauses, type PausesOptions } from "./pauses.ts";
import { startControlServer } from "./server.ts";

export interface ControlOptions {
  readonly device: string;
  readonly folder: string;
  readonly name: ControlName;
  readonly activity: Activity;
  readonly pauses: PausesOptions;
  readonly log: Logger;
}

export interface Control {
  readonly pauses: Pauses;
  close(): Promise<void>;
}

/** Obeys pauses from now on, and serves the control routes. An agent that cannot serve them works without. */
export async function openControl(options: ControlOptions): Promise<Control> {
  const { device, activity, log } = options;
  const pauses = Pauses.begin(options.pauses);
  const routes = [activityRoutes(activity), pauseRoutes(device, pauses)];
  const server = await startControlServer({ ...options, routes }).catch((err: unknown) => {
    log.warn({ err }, "matrx activity cannot watch this agent");
    return undefined;
  });
  return {
    pauses,
    async close() {
      pauses.close();
      await server?.close();
    },
  };
}
