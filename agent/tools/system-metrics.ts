/** SystemMetrics: how loaded this machine is, once, or through the stream that the call opens. */
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { type Sample, sampleSchema } from "../metrics/sample.ts";
import { serveSamples } from "../metrics/serve-samples.ts";
import { withoutMisleading } from "../text/display-name.ts";
import { needsStreamError } from "../transfers/errors.ts";

/** In milliseconds. */
const INTERVAL = { least: 1000, most: 60_000, usual: 2000 } as const;

const input = z.strictObject({
  interval_ms: z
    .int()
    .min(INTERVAL.least)
    .max(INTERVAL.most)
    .optional()
    .describe(`Only with a stream: the time between two samples (default ${INTERVAL.usual})`),
});

export function systemMetricsTool(metrics: Metrics) {
  return defineTool({
    name: "SystemMetrics",
    family: "system",
    effect: "read",
    description:
      "Get how loaded the device is now: processors, memory, disks, network, temperatures. For programs; models use `SystemInfo`.",
    details:
      "One sample, in the metadata. With a stream it goes on: each further sample is a line of JSON, until the caller leaves. Who reads slowly gets the newest one. CPU is a percentage of all cores; used memory is what is not available. Null: the system does not tell.",
    input,
    output: sampleSchema,
    model: { hidden: true },
    interactive: true,
    timeoutMs: 20_000,
    async handle({ interval_ms }, { opensStream, signal }) {
      if (interval_ms !== undefined && !opensStream) throw needsStreamError("SystemMetrics with interval_ms");
      const sample = await metrics.now(signal);
      const everyMs = interval_ms ?? INTERVAL.usual;
      return {
        output: [...linesOf(sample)].join("\n"),
        metadata: sample,
        ...(opensStream && { stream: serveSamples((left) => metrics.every(everyMs, left)) }),
      };
    },
  });
}

const MiB = 1024 * 1024;
const mebibytes = (bytes: number) => `${Math.round(bytes / MiB)} MiB`;
const kibibytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB/s`;
const percent = (part: number | null) => (part === null ? "not known" : `${part.toFixed(1)} %`);

function* linesOf({ cpu, memory, disks, silent_disks, disk_traffic, ...sample }: Sample): Generator<string> {
  yield `cpu: ${percent(cpu.percent)} of ${cpu.cores.length} cores (${cpu.cores.map(percent).join(", ")})`;
  if (cpu.load) yield `load: ${cpu.load.map((one) => one.toFixed(2)).join(" ")}`;
  yield `memory: ${mebibytes(memory.used_bytes)} of ${mebibytes(memory.total_bytes)}`;
  yield `swap: ${mebibytes(memory.swap_used_bytes)} of ${mebibytes(memory.swap_total_bytes)}`;
  for (const { name, used_bytes, total_bytes } of disks)
    yield `disk ${withoutMisleading(name)}: ${mebibytes(used_bytes)} of ${mebibytes(total_bytes)}`;
  for (const name of silent_disks) yield `disk ${withoutMisleading(name)}: does not answer`;
  if (disk_traffic)
    yield `disks: ${kibibytes(disk_traffic.read_bytes_per_second)} read, ${kibibytes(disk_traffic.written_bytes_per_second)} written`;
  for (const { name, received_bytes_per_second, sent_bytes_per_second } of sample.network)
    yield `network ${withoutMisleading(name)}: ${kibibytes(received_bytes_per_second)} received, ${kibibytes(sent_bytes_per_second)} sent`;
  for (const { name, celsius } of sample.temperatures ?? [])
    yield `temperature ${withoutMisleading(name)}: ${celsius.toFixed(1)} °C`;
  yield `uptime: ${sample.uptime_seconds} s`;
}
