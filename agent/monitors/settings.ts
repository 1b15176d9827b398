/** `monitors` in config.json: what is watched on this machine. Absent parts have these defaults. */
import * as z from "zod";

/** Minimum interval between checks, in seconds: their cost must be negligible. */
const SHORTEST = 30;
const DAY = 86_400;

const everySeconds = (usual: number) => z.int().min(SHORTEST).max(DAY).default(usual);
const serviceName = z.string().min(1).max(64);

const httpServiceSchema = z.strictObject({
  name: serviceName,
  url: z.url({ protocol: /^https?$/, error: "must be an http(s) URL" }).max(2048),
  /** The one status that counts as well; absent: any below 500. */
  status: z.int().min(100).max(599).optional(),
});

const tcpServiceSchema = z.strictObject({
  name: serviceName,
  host: z.string().min(1).max(253),
  port: z.int().min(1).max(65_535),
});

const folderSchema = z.strictObject({
  /** Absolute, or below the home folder by `~/`. */
  path: z
    .string()
    .max(1024)
    .regex(/^(?:\/|~[/\\]|[A-Za-z]:[\\/])/, "must be an absolute path, or begin with ~/"),
  /** Levels of folders below it. */
  depth: z.int().min(0).max(20).default(2),
  /** With more than these it is not watched. */
  max_entries: z.int().min(1).max(100_000).default(10_000),
  report: z
    .array(z.enum(["added", "changed", "removed"]))
    .min(1)
    .default(["added"]),
});

function distinctNames(services: readonly { name: string }[]): boolean {
  return new Set(services.map(({ name }) => name)).size === services.length;
}

const monitorsSchema = z.strictObject({
  low_disk_space: z
    .strictObject({
      enabled: z.boolean().default(true),
      percentage_free: z.number().min(0.1).max(90).default(10),
      every_seconds: everySeconds(60),
    })
    .prefault({}),
  high_cpu_usage: z
    .strictObject({
      enabled: z.boolean().default(true),
      percentage: z.number().min(10).max(99.9).default(90),
      minutes: z.number().min(1).max(1440).default(5),
      every_seconds: everySeconds(SHORTEST),
    })
    .prefault({}),
  new_file_detected: z.strictObject({ folders: z.array(folderSchema).max(20).default([]) }).prefault({}),
  service_down: z
    .strictObject({
      services: z
        .array(z.union([httpServiceSchema, tcpServiceSchema]))
        .max(100)
        .refine(distinctNames, "each service needs its own name")
        .default([]),
      every_seconds: everySeconds(60),
      timeout_seconds: z.int().min(1).max(30).default(10),
      failures: z.int().min(1).max(20).default(3),
    })
    .prefault({}),
});
export type MonitorSettings = z.infer<typeof monitorsSchema>;

/** Validates, but keeps what the owner wrote: rewriting the file must not fill it with defaults. */
export const rawMonitorsSchema = z.custom<z.input<typeof monitorsSchema>>().superRefine((value, context) => {
  const issues = monitorsSchema.safeParse(value).error?.issues ?? [];
  for (const { path, message } of issues) context.addIssue({ code: "custom", path, message });
});

/** What is watched, with the defaults of what the owner left out. */
export function monitorSettings(raw: z.input<typeof monitorsSchema> = {}): MonitorSettings {
  return monitorsSchema.parse(raw);
}
