/** Whom a device's user closed it to, at the machine itself. */
import * as z from "zod";
import type { GrantScope } from "./grant.ts";

export const pausedSchema = z.enum(["everyone", "ai"]);
export type Paused = z.infer<typeof pausedSchema>;

/** Whether a pause closes a device to this grant. Whoever acts for the owner is never an AI. */
export function isClosedTo(paused: Paused, { owner }: Pick<GrantScope, "owner">): boolean {
  return paused === "everyone" || !owner;
}
