/** What a monitor is given, with an ear on what it emits. */
import type { Report } from "../../../agent/events/report.ts";
import type { MonitorParts } from "../../../agent/monitors/condition.ts";

export interface HeardParts extends MonitorParts {
  readonly reports: Report[];
  /** The next report that was not waited for yet. */
  next(): Promise<Report>;
}

export function heardParts(left: readonly string[] = []): HeardParts {
  const reports: Report[] = [];
  const waiting: ((report: Report) => void)[] = [];
  let taken = 0;
  return {
    reports,
    emit(report) {
      reports.push(report);
      waiting.shift()?.(report);
    },
    openKeys: () => [...left],
    onLook: () => undefined,
    next() {
      const report = reports[taken++];
      if (report) return Promise.resolve(report);
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}
