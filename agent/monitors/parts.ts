/** What every monitor is given. */
import type { Emit } from "../events/report.ts";

export interface MonitorParts {
  readonly emit: Emit;
  /** Keys of this type's conditions that an earlier run reported, and that were not over. */
  openKeys(type: string): string[];
  /** A look of this monitor ended; `failure`: it could not look. */
  onLook(monitor: string, failure: Error | undefined): void;
}
