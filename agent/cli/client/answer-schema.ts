/** What a caller gets, read from outside. */
import { ERROR_CODES } from "@matrx/shared/errors.ts";
import * as z from "zod";

export const answerSchema = z.looseObject({
  id: z.string().nullish(),
  type: z.enum(["success", "error"]),
  output: z.string(),
  call: z.string().optional(),
  device: z.string().optional(),
  image: z.object({ media_type: z.string(), base64_data: z.string() }).nullish(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  code: z.enum(ERROR_CODES).optional(),
  hint: z.string().optional(),
  hop: z.enum(["caller", "relay", "device", "agent", "tool"]).optional(),
});

/** Frames that a call's connection may carry. */
export const callerFrameSchema = z.union([
  answerSchema,
  z.object({
    id: z.string(),
    type: z.literal("output"),
    channel: z.enum(["stdout", "stderr"]),
    offset: z.number(),
    data: z.string(),
  }),
  z.object({ id: z.string(), type: z.literal("accepted"), call: z.string() }),
  z.object({ id: z.string(), type: z.literal("gap"), frames: z.number() }),
  z.object({ type: z.literal("hello"), session: z.string() }),
  z.object({ type: z.literal("pong") }),
  z.object({ type: z.literal("event"), device: z.string() }),
]);
