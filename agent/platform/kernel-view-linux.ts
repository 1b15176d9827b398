/** What of /proc and /sys file tools do not show: it holds secrets of processes, or memory of kernel and firmware. */
import type { KernelView } from "./platform.ts";

/** Entries of a process and its threads that reveal nothing of its memory, arguments, environment or files. */
const HARMLESS: ReadonlySet<string> = new Set(
  (
    "autogroup cgroup children comm cpuset limits loginuid mountinfo mounts mountstats net oom_adj oom_score " +
    "oom_score_adj sched schedstat sessionid stat statm status task timerslack_ns wchan"
  ).split(" "),
);

const PROCESS = /^\/proc\/\d+(?:\/task\/\d+)?\/([^/]+)/;

const KERNEL = new RegExp(
  "^(?:/proc/(?:kallsyms|kcore|keys?|key-users|kmsg|kpage[^/]*|modules|iomem|ioports|latency_stats|pagetypeinfo|" +
    "sched_debug|slabinfo|sysrq-trigger|timer_list|vmallocinfo|vmcore)|" +
    "/sys/(?:firmware|fs/pstore|kernel/(?:debug|tracing|notes|vmcoreinfo|boot_params)|module/[^/]+/(?:sections|notes)|" +
    "devices/virtual/dmi/id/[^/]*(?:serial|uuid)))(?:/|$)",
);

export function linuxKernelView(canonical: string): KernelView | undefined {
  if (!canonical.startsWith("/proc/") && !canonical.startsWith("/sys/")) return undefined;
  if (KERNEL.test(canonical)) return "kernel";
  const own = `/proc/${process.pid}`;
  if (canonical === own || canonical.startsWith(`${own}/`)) return "process";
  const entry = PROCESS.exec(canonical)?.[1];
  return entry === undefined || HARMLESS.has(entry) ? undefined : "process";
}
