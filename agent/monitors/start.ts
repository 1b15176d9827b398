/** Starts and stops this machine's monitors, as its owner configured them. */
import { homedir } from "node:os";
import type { EventHub } from "../events/hub.ts";
import { type ProtectedPaths, ProtectedSet } from "../fs/protected-paths.ts";
import { currentPlatform } from "../platform/current.ts";
import { DriveUses } from "../platform/drive-uses.ts";
import { absolutePath } from "../platform/path-syntax.ts";
import type { Platform } from "../platform/platform.ts";
import { Conditions, type MonitorParts } from "./condition.ts";
import { FolderWatch } from "./folder-watch.ts";
import { watchCpu } from "./high-cpu-usage.ts";
import { watchDisks } from "./low-disk-space.ts";
import type { Problems } from "./problems.ts";
import { busyProcesses, ProcessorLoad } from "./processor-load.ts";
import { checkService } from "./service-check.ts";
import { watchServices } from "./service-down.ts";
import type { MonitorSettings } from "./settings.ts";

export interface MonitorsOptions {
  readonly settings: MonitorSettings;
  readonly hub: EventHub;
  readonly problems: Problems;
  /** Matrx's own files, as of the time of the call. */
  readonly protectedPaths: () => ProtectedPaths;
}

export interface Monitors {
  close(): Promise<void>;
}

export async function startMonitors(options: MonitorsOptions): Promise<Monitors> {
  const { settings, hub, problems } = options;
  const platform = currentPlatform();
  const { low_disk_space, high_cpu_usage, new_file_detected, service_down } = settings;
  const parts: MonitorParts = {
    emit: (report) => hub.emit(report),
    openKeys: (type) => hub.openKeys(type),
    onLook: (monitor, failure) => tell(problems, monitor, failure),
  };
  const cpuParts = {
    ...parts,
    load: new ProcessorLoad(),
    busiest: (signal: AbortSignal) => busyProcesses(platform.processList, signal),
  };
  const looks = [
    ...(low_disk_space.enabled
      ? [watchDisks(new DriveUses({ list: platform.drives }), low_disk_space, parts)]
      : []),
    ...(high_cpu_usage.enabled ? [watchCpu(high_cpu_usage, cpuParts)] : []),
    watchServices(service_down.services, service_down, { ...parts, check: checkService }),
  ];
  const folders = await watchFolders(new_file_detected.folders, options, platform);
  endUnwatched(options);
  return {
    async close() {
      for (const look of looks) look.close();
      await Promise.all(folders.map((folder) => folder.close()));
    },
  };
}

async function watchFolders(
  folders: MonitorSettings["new_file_detected"]["folders"],
  { hub, problems, protectedPaths }: MonitorsOptions,
  platform: Platform,
): Promise<FolderWatch[]> {
  if (folders.length === 0) return [];
  const { watch } = await import("chokidar");
  return folders.map((folder) => {
    const path = folderPath(folder, platform);
    return new FolderWatch(
      { ...folder, path },
      {
        emit: (report) => hub.emit(report),
        watch,
        closedNow: () => closedBy(new ProtectedSet(protectedPaths(), platform)),
        onProblem: (problem) => {
          if (problem) problems.raise(folderKey(path), problem);
          else problems.clear(folderKey(path), `${path} is watched again`);
        },
      },
    );
  });
}

/** Ends conditions that an earlier run reported and that are no longer monitored. */
function endUnwatched({ settings, hub, problems }: MonitorsOptions): void {
  for (const type of ["low_disk_space", "high_cpu_usage"] as const) {
    if (settings[type].enabled) continue;
    const left = new Conditions(type, (report) => hub.emit(report), hub.openKeys(type));
    for (const key of left.open) left.clear(key, { unwatched: true });
  }
  const platform = currentPlatform();
  problems.clearUnknown([
    ...["low_disk_space", "high_cpu_usage"].map(monitorKey),
    ...settings.service_down.services.map(({ name }) => monitorKey(`service_down ${name}`)),
    ...settings.new_file_detected.folders.map((folder) => folderKey(folderPath(folder, platform))),
  ]);
}

function folderPath({ path }: { path: string }, platform: Platform): string {
  return absolutePath(path, homedir(), platform);
}

function folderKey(path: string): string {
  return `folder ${path}`;
}

function monitorKey(monitor: string): string {
  return `monitor ${monitor}`;
}

function closedBy(set: ProtectedSet): (canonical: string) => boolean {
  return (canonical) => {
    try {
      set.check(canonical, canonical, "look");
      return false;
    } catch {
      return true;
    }
  };
}

function tell(problems: Problems, monitor: string, failure: Error | undefined): void {
  if (failure)
    problems.raise(monitorKey(monitor), { message: `${monitor} cannot be watched`, cause: failure.message });
  else problems.clear(monitorKey(monitor), `${monitor} is watched again`);
}
