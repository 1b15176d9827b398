/** Whom a device's user closed it to, at the machine itself. */
import * as z from "zod";

export const pausedSchema = z.enum(["everyone", "ai"]);
export type Paused = z.infer<typeof pausedSchema>;
