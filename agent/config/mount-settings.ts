/** `mcpServers` of the configuration: the MCP servers that this machine mounts, in the shape that other clients use. */
import { isAbsolute } from "node:path";
import { domainSchema } from "@matrx/shared/access-rules.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import * as z from "zod";

const SERVERS_MAX = 32;

/** Without `__` inside and `_` at the end, `server__tool` says whose tool it is. */
const serverName = z
  .string()
  .max(32, "a server's name has at most 32 characters")
  .regex(/^[A-Za-z0-9_-]+$/, "a server's name has only letters, digits, _ and -")
  .refine((name) => !name.includes("__"), "a server's name must not contain __, which ends it in tool names")
  .refine((name) => !name.endsWith("_"), "a server's name must not end with _");

const shared = {
  disabled: z.boolean().optional(),
  /** Time limit of its calls in milliseconds, if the caller sets none. */
  timeout_ms: z.int().min(1).max(TIMES.callMax).optional(),
  /** `allow`: changes of its program and tools need not be allowed. */
  changes: z.enum(["ask", "allow"]).optional(),
};

const fullPath = z.string().max(4096).refine(isAbsolute, "must be a full path");

/** What a server in the sandbox reaches, besides the system's programs. */
const sandboxSchema = z.strictObject({
  folders: z.array(fullPath).max(64).optional(),
  read_only: z.boolean().optional(),
  network: z.array(domainSchema).max(64).optional(),
});

const value = z.string().max(32_768);

const stdioSchema = z.strictObject({
  type: z.literal("stdio").optional(),
  command: z.string().min(1).max(4096),
  args: z.array(value).max(256).optional(),
  env: z.record(z.string().regex(/^[^=\0]+$/, "is no name of a variable"), value).optional(),
  cwd: fullPath.optional(),
  sandbox: sandboxSchema.optional(),
  ...shared,
});

const httpSchema = z.strictObject({
  type: z.enum(["http", "streamable-http"]).optional(),
  url: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).max(4096),
  headers: z
    .record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "is no name of a header"), value)
    .optional(),
  ...shared,
});

const serverSchema = z
  .unknown()
  .transform((raw, context): z.infer<typeof stdioSchema | typeof httpSchema> => {
    const isHttp = typeof raw === "object" && raw !== null && "url" in raw;
    const read = isHttp ? httpSchema.safeParse(raw) : stdioSchema.safeParse(raw);
    if (read.success) return read.data;
    for (const issue of read.error.issues) context.addIssue({ ...issue, code: "custom" });
    return z.NEVER;
  });

export const mountsSchema = z
  .record(serverName, serverSchema)
  .refine((servers) => Object.keys(servers).length <= SERVERS_MAX, `at most ${SERVERS_MAX} servers`);

export type MountSettings = z.infer<typeof mountsSchema>;
export type ServerSettings = z.infer<typeof serverSchema>;
export type StdioSettings = z.infer<typeof stdioSchema>;
export type ServerSandbox = z.infer<typeof sandboxSchema>;
export type HttpSettings = z.infer<typeof httpSchema>;
