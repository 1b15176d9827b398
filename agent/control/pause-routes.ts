/** `GET /state`, `POST /pause` and `POST /resume`. */
import { agentError } from "@matrx/shared/errors.ts";
import { pausedSchema } from "@matrx/shared/paused.ts";
import type { Context } from "hono";
import * as z from "zod";
import type { ControlRoutes } from "./app.ts";
import type { Pauses } from "./pauses.ts";

const requestSchema = z.strictObject({ who: pausedSchema });

/** Whether the machine is paused, as the control routes tell it. */
export const stateSchema = z.object({ device: z.string(), paused: pausedSchema.nullable() });
/** The state after a pause, and what was stopped for it. */
export const pauseResultSchema = stateSchema.extend({
  stopped: z.object({ calls: z.int(), jobs: z.int() }),
});

export function pauseRoutes(device: string, pauses: Pauses): ControlRoutes {
  const state = (): z.infer<typeof stateSchema> => ({ device, paused: pauses.current ?? null });
  return (app) => {
    app.get("/state", (c) => c.json(state()));
    app.post("/pause", async (c) => {
      const stopped = await pauses.pause(await whoOf(c));
      return c.json({ ...state(), stopped } satisfies z.infer<typeof pauseResultSchema>);
    });
    app.post("/resume", (c) => {
      pauses.resume();
      return c.json(state());
    });
  };
}

/** Throws MatrxError. */
async function whoOf(c: Context) {
  const request = requestSchema.safeParse(await c.req.json().catch(() => undefined));
  if (request.success) return request.data.who;
  throw agentError("INVALID_PARAMETERS", "who: everyone or ai", { details: { field: "who" } });
}
