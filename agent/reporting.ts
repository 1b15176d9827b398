/** What a program of ours reports about itself and its machine: the log, and events. Errors in the log are also events. */
import type { DeviceEvent } from "@matrx/shared/events.ts";
import type { Logger } from "pino";
import { EventHub } from "./events/hub.ts";
import { OpenConditions } from "./events/open-conditions.ts";
import { Outbox } from "./events/outbox.ts";
import { type LogOptions, makeLog } from "./log/log.ts";
import { Problems } from "./monitors/problems.ts";

export interface Reporting {
  readonly log: Logger;
  readonly hub: EventHub;
  readonly problems: Problems;
  /** Logs what never left this machine. */
  close(): void;
}

export interface ReportingOptions {
  readonly device: string;
  readonly log: LogOptions;
  /** If present, events go to the relay, and open conditions are kept in this file across restarts. */
  readonly conditionsFile?: string;
}

export function openReporting({ device, log: options, conditionsFile }: ReportingOptions): Reporting {
  let problems: Problems | undefined;
  const onError: LogOptions["onError"] = ({ msg, cause }) =>
    problems?.happened({ message: msg, cause }, performance.now());
  const log = makeLog({ ...options, onError });
  const hub = new EventHub({
    device,
    onEvent: (event) => logCondition(event, log),
    ...(conditionsFile !== undefined && {
      outbox: new Outbox(performance.now()),
      conditions: new OpenConditions(conditionsFile, log),
    }),
  });
  problems = new Problems((report) => hub.emit(report), hub.openKeys("error_occurred"));
  const unguard = guardProcess(log);
  const close = () => {
    unguard();
    const unsent = hub.close();
    if (unsent.waiting + unsent.dropped > 0)
      log.warn(unsent, "events that never reached the relay were dropped");
  };
  return { log, hub, problems, close };
}

/** Logs conditions, but not notices: those are many, and their programs have logs of their own. */
function logCondition({ event_type, key, resolved, data }: DeviceEvent, log: Logger): void {
  if (key === undefined) return;
  if (resolved) log.info({ about: key, data }, `${event_type} is over`);
  else log.warn({ about: key, data }, event_type);
}

/** Keeps the program running after an unhandled rejection, and logs an uncaught exception before it ends the program. */
function guardProcess(log: Logger): () => void {
  const onRejection = (err: unknown) => log.error({ err }, "an error was not handled");
  const onException = (err: unknown) => log.fatal({ err }, "the program ends because of an internal error");
  process.on("unhandledRejection", onRejection);
  process.on("uncaughtExceptionMonitor", onException);
  return () => {
    process.off("unhandledRejection", onRejection);
    process.off("uncaughtExceptionMonitor", onException);
  };
}
