/** What this device announces of its tools. */
import { createHash } from "node:crypto";
import { effectOf } from "@matrx/shared/effects.ts";
import type { Manifest } from "@matrx/shared/tool.ts";
import * as z from "zod";
import type { Tool } from "./tool.ts";

/** The manifest of a list of tools; the hash changes with any word of it. */
export function manifestOf(tools: readonly Tool[]): Manifest {
  const described = tools
    .map((tool) => ({
      name: tool.name,
      description: tool.description,
      effect: effectOf(tool.name),
      input_schema: z.toJSONSchema(tool.input, { io: "input" }),
      timeout_ms: tool.timeoutMs,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const hash = createHash("sha256").update(JSON.stringify(described)).digest("hex");
  return { hash, tools: described };
}
