/** What the owner has allowed of a mounted server, and what waits to be allowed: one private file for each. */
import { hash } from "node:crypto";
import { join } from "node:path";
import { canonicalJson } from "@matrx/shared/canonical-json.ts";
import * as z from "zod";
import type { ServerSettings } from "../config/mount-settings.ts";
import { readJsonFile, writePrivateFile } from "../platform/private-file.ts";

const toolSchema = z.strictObject({
  name: z.string(),
  sha256: z.string(),
  definition: z.string().optional(),
});

const programSchema = z.array(z.strictObject({ path: z.string(), sha256: z.string() }));

const pinnedSchema = z.strictObject({
  allowed: z.strictObject({
    /** Null: not known, as the file was damaged. */
    program: programSchema.nullable(),
    tools: z.array(toolSchema),
  }),
  /** Differs from what is allowed. */
  waiting: z
    .strictObject({
      program: programSchema,
      /** Absent: the program has changed, and was not asked for its tools. */
      tools: z.array(toolSchema).optional(),
    })
    .optional(),
});
export type Pinned = z.infer<typeof pinnedSchema>;
export type Waiting = NonNullable<Pinned["waiting"]>;

/** What the owner wrote is what is allowed: with another command or URL, it is another server. */
export function pinFileOf(folder: string, name: string, settings: ServerSettings): string {
  const place =
    "url" in settings
      ? { url: settings.url }
      : { command: settings.command, args: settings.args ?? [], cwd: settings.cwd };
  return join(folder, `${name}-${hash("sha256", canonicalJson({ name, place })).slice(0, 16)}.json`);
}

/** Undefined before the server was first seen. Throws MatrxError if the file is damaged. */
export function readPin(file: string): Pinned | undefined {
  return readJsonFile(file, pinnedSchema);
}

/** Throws MatrxError. */
export function writePin(file: string, pinned: Pinned): void {
  writePrivateFile(file, `${JSON.stringify(pinned)}\n`);
}

/** With what waits allowed. A tool that is not there just now stays allowed as it was. */
export function allowed({ allowed: before, waiting }: Pinned): Pinned {
  if (!waiting) return { allowed: before };
  const names = new Set(waiting.tools?.map(({ name }) => name));
  const others = before.tools.filter(({ name }) => !names.has(name));
  return { allowed: { program: waiting.program, tools: [...(waiting.tools ?? []), ...others] } };
}

/** The tools of `waiting` that are not allowed as they are, each with why. */
export function closedTools({ allowed: { tools } }: Pinned, now: Waiting["tools"] = []) {
  const known = new Map(tools.map((tool) => [tool.name, tool]));
  const closed = now.filter(({ name, sha256 }) => known.get(name)?.sha256 !== sha256);
  return closed.map((tool) => ({ tool, before: known.get(tool.name) }));
}

export function isSameProgram(one: Pinned["allowed"]["program"], other: Waiting["program"]): boolean {
  const hashes = (parts: Waiting["program"]) => JSON.stringify(parts.map(({ sha256 }) => sha256));
  return one === null || hashes(one) === hashes(other);
}
