/** What programs of this user on this machine may ask the running agent: see `docs/guides/use.md`, At the machine. */
import { problemOfShape } from "@matrx/shared/caller/problem.ts";
import { agentError } from "@matrx/shared/errors.ts";
import { Hono } from "hono";
import type { Logger } from "pino";
import { toldError } from "../core/incident.ts";
import { CONTROL_HOST } from "./endpoint.ts";

/** Adds the routes of one matter. */
export type ControlRoutes = (app: Hono) => void;

export function controlApp(routes: readonly ControlRoutes[], log: Logger): Hono {
  const app = new Hono();
  app.onError((error) => problemOfShape(toldError(error, log, "a control request failed")));
  app.notFound(() => {
    throw agentError("NOT_FOUND", "The agent has no such control route", {
      hint: "Is the agent older than this command? Restart it",
    });
  });
  app.use(async ({ req }, next) => {
    const isOfPage = ["Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode"].some(
      (name) => req.header(name) !== undefined,
    );
    if (isOfPage || req.header("Host") !== CONTROL_HOST)
      throw agentError("PERMISSION_DENIED", "Only the matrx command may ask this", {
        hint: "Run: matrx help",
      });
    await next();
  });
  for (const add of routes) add(app);
  return app;
}
