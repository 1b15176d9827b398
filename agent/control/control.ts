/** Control of the running agent by its user on this machine: watching what callers do, pausing, and allowing calls. */
import type { Logger } from "pino";
import type { Activity } from "../core/activity.ts";
import type { MachineApprovals } from "../core/machine-approvals.ts";
import type { MountView } from "../mounts/mount.ts";
import { activityRoutes } from "./activity-routes.ts";
import { approvalRoutes } from "./approval-routes.ts";
import type { ControlName } from "./endpoint.ts";
import { mountRoutes } from "./mount-routes.ts";
import { pauseRoutes } from "./pause-routes.ts";
import { Pauses, type PausesOptions } from "./pauses.ts";
import { startControlServer } from "./server.ts";

export interface ControlOptions {
  readonly device: string;
  readonly folder: string;
  readonly name: ControlName;
  readonly activity: Activity;
  readonly pauses: PausesOptions;
  /** Calls that only somebody at this machine may allow. */
  readonly approvals: MachineApprovals;
  readonly mounts: { readonly views: readonly MountView[] };
  readonly log: Logger;
}

export interface Control {
  readonly pauses: Pauses;
  close(): Promise<void>;
}

/** Obeys pauses from now on, and serves the control routes. An agent that cannot serve them works without. */
export async function openControl(options: ControlOptions): Promise<Control> {
  const { device, activity, approvals, log } = options;
  const pauses = Pauses.begin(options.pauses);
  const routes = [
    activityRoutes(activity),
    pauseRoutes(device, pauses),
    approvalRoutes(approvals),
    mountRoutes(options.mounts),
  ];
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
