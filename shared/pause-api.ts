/** The account's pause: closes all of its devices to AI grants and to whom they are shared with. Times are ISO 8601 in UTC. */
import * as z from "zod";

const time = z.iso.datetime();

/** `POST /v1/pause` */
export const newPauseSchema = z.strictObject({
  paused: z
    .boolean()
    .describe("true: end all that AI grants do, and refuse them from now on; false: let them act again"),
});

/** Answer to `POST` and `GET /v1/pause`, also in frames of the account link. */
export const pauseViewSchema = z.object({
  paused: z.boolean(),
  changed: time.nullable().describe("null: it was never paused"),
  changed_by: z.string().nullable().describe("The session that changed it, by its name"),
  devices: z.int().describe("The devices of the account"),
  devices_told: z.int().describe("How many of them have confirmed it; the others are told until they do"),
});
export type PauseView = z.infer<typeof pauseViewSchema>;

/** `POST /v1/calls/cancel` */
export const cancelCallsSchema = z.strictObject({
  device: z.string().optional().describe("Only calls on this device"),
  grant: z.string().optional().describe("Only calls of this grant"),
});

/** Answer to it. */
export const cancelledCallsSchema = z.object({
  cancelled: z.int().describe("Calls that had not ended, those that wait for a person included"),
  devices: z.int().describe("Devices that were asked"),
  unreachable: z.array(z.string()).describe("Devices whose data the relay cannot read"),
});
