/** `GET /mounts`: how the MCP servers that this agent mounts stand. */
import * as z from "zod";
import type { MountView } from "../mounts/mount.ts";
import type { ControlRoutes } from "./app.ts";

export const mountsStateSchema = z.object({
  mounts: z.array(
    z.object({
      name: z.string(),
      state: z.enum(["starting", "running", "failed", "disabled"]),
      tools: z.array(z.string()),
      left_out: z.array(z.string()),
      why: z.string().optional(),
    }),
  ),
});

export function mountRoutes(mounts: { readonly views: readonly MountView[] }): ControlRoutes {
  return (app) => {
    app.get("/mounts", (c) => c.json({ mounts: mounts.views }));
  };
}
