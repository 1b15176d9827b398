/** What this device announces of its tools. */
import { createHash } from "node:crypto";
import { effectOf } from "@matrx/shared/effects.ts";
import type { Manifest, ToolDescription } from "@matrx/shared/tool.ts";
import * as z from "zod";
import type { Tool } from "./tool.ts";

function describe({ name, description, details, input, timeoutMs, model }: Tool): ToolDescription {
  return {
    name,
    description,
    ...(details !== undefined && { details }),
    effect: effectOf(name),
    input_schema: z.toJSONSchema(input, { io: "input" }),
    timeout_ms: timeoutMs,
    ...(model && {
      model: {
        ...(model.omit && { omit: [...model.omit] }),
        ...(model.require && { require: [...model.require] }),
      },
    }),
  };
}

/** The manifest of a list of tools; the hash changes with any word of it. */
export function manifestOf(tools: readonly Tool[]): Manifest {
  const described = tools.map(describe).sort((a, b) => (a.name < b.name ? -1 : 1));
  const hash = createHash("sha256").update(JSON.stringify(described)).digest("hex");
  return { hash, tools: described };
}
