/** Parts of a tool's result that are more than a text and one picture: content blocks of the Model Context Protocol. */
import * as z from "zod";

const notes = { annotations: z.looseObject({}).exactOptional(), _meta: z.looseObject({}).exactOptional() };

const resourceSchema = z.union([
  z.object({ uri: z.string(), mimeType: z.string().exactOptional(), text: z.string() }),
  z.object({ uri: z.string(), mimeType: z.string().exactOptional(), blob: z.base64() }),
]);

/** One content block; keys that the protocol may add later are dropped. */
export const contentSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string(), ...notes }),
  z.object({ type: z.literal("image"), data: z.base64(), mimeType: z.string(), ...notes }),
  z.object({ type: z.literal("audio"), data: z.base64(), mimeType: z.string(), ...notes }),
  z.object({ type: z.literal("resource"), resource: resourceSchema, ...notes }),
  z.object({
    type: z.literal("resource_link"),
    uri: z.string(),
    name: z.string(),
    title: z.string().exactOptional(),
    description: z.string().exactOptional(),
    mimeType: z.string().exactOptional(),
    size: z.number().exactOptional(),
    ...notes,
  }),
]);
export type Content = z.infer<typeof contentSchema>;

/** How far a call is. `progress` only grows; without `total` nobody knows how far it has to go. */
export const progressSchema = z.object({
  progress: z.number(),
  total: z.number().exactOptional(),
  message: z.string().max(1000).exactOptional(),
});
export type Progress = z.infer<typeof progressSchema>;
