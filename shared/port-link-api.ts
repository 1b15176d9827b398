/** REST bodies of links to a device's web servers: whoever opens one in a browser uses that port there for a limited time. */
import * as z from "zod";
import { portSchema } from "./ports.ts";

/** `POST /v1/devices/{device}/port-links` */
export const newPortLinkSchema = z.strictObject({
  port: portSchema.describe("The port on which the web server listens on the device"),
  minutes: z.int().min(1).max(10_080).default(60).describe("How long the browser that opens it may use it"),
});
export type NewPortLink = z.infer<typeof newPortLinkSchema>;

export const portLinkSchema = z.object({
  id: z.string().describe("Its grant: DELETE /v1/tokens/ID ends the visit"),
  url: z.string().describe("Opens the port in one browser, once, within two minutes"),
  port: z.int(),
  expires: z.iso.datetime().describe("When the visit ends"),
});
export type PortLink = z.infer<typeof portLinkSchema>;
