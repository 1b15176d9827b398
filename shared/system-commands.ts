/** What an owner can have the agent on a device do (device document, Backend to Client 5). */
import * as z from "zod";

export const systemCommandNameSchema = z.enum(["restart_client", "update_permissions", "shutdown"]);
