/** What a caller's call says to open a stream with it. */
import * as z from "zod";
import { LIMITS } from "../limits.ts";
import { STREAM_MAX } from "./frame.ts";

/** The stream's number, and the credit that the device has at first. */
export const opensSchema = z.object({
  stream: z.int().min(1).max(STREAM_MAX),
  credit: z.int().min(LIMITS.streamWindowMinBytes).max(LIMITS.streamWindowBytes),
});
export type Opens = z.infer<typeof opensSchema>;

/** As a caller says it: with `less`, it takes less credit rather than a refusal, and is told how much by a frame. */
export const wantedOpensSchema = opensSchema.extend({ less: z.boolean().exactOptional() });
export type WantedOpens = z.infer<typeof wantedOpensSchema>;
