/** What the relay and the local server send to a caller: one schema per frame, for its writers and its readers. */
import * as z from "zod";
import { eventViewSchema } from "../api.ts";
import { callApprovalSchema } from "../approval.ts";
import { contentSchema, progressSchema } from "../content.ts";
import { ERROR_CODES, HOPS } from "../errors.ts";

const hop = z.enum(HOPS);

/** One answer to one call (guide, Receiving a Response): `output` is always there. */
export const answerSchema = z.object({
  /** The caller's own id; REST has none. */
  id: z.string().exactOptional(),
  type: z.enum(["success", "error"]),
  output: z.string(),
  /** The call's name at the relay, for reading its outcome later. */
  call: z.string().exactOptional(),
  device: z.string().exactOptional(),
  image: z.object({ media_type: z.string(), base64_data: z.string() }).nullable().exactOptional(),
  metadata: z.record(z.string(), z.unknown()).exactOptional(),
  /** The whole result in parts, if it has others than `output` and `image`. */
  content: z.array(contentSchema).exactOptional(),
  /** The result as data that fits the tool's `output_schema`, if it is not `metadata`. */
  structured: z.unknown().exactOptional(),
  code: z.enum(ERROR_CODES).exactOptional(),
  hint: z.string().exactOptional(),
  hop: hop.exactOptional(),
});
export type Answer = z.infer<typeof answerSchema>;

const successFrameSchema = answerSchema
  .omit({ code: true, hint: true, hop: true })
  .extend({ type: z.literal("success") });

/** With a null id it answers no call: the message could not be parsed. */
const errorFrameSchema = answerSchema.extend({
  id: z.string().nullable().exactOptional(),
  type: z.literal("error"),
  code: z.enum(ERROR_CODES),
  hop,
});

/** Names a call with an effect once its record is durable, before its answer, on `matrx.v1`. Relay only. */
const acceptedFrameSchema = z.object({ id: z.string(), type: z.literal("accepted"), call: z.string() });

/** A person is asked about the call, or has allowed it, before its answer, on `matrx.v1`. Relay only. */
const approvalFrameSchema = z.object({
  id: z.string(),
  type: z.literal("approval"),
  call: z.string(),
  approval: z.string(),
  state: z.enum(["pending", "allowed"]),
  ...callApprovalSchema.pick({ expires: true, summary: true, edited: true }).shape,
});

/** Live output of a call that opted in; `offset` counts bytes of the job's log, which makes gaps visible. */
const outputFrameSchema = z.object({
  id: z.string(),
  type: z.literal("output"),
  channel: z.enum(["stdout", "stderr"]),
  offset: z.int(),
  data: z.string(),
});

/** Live output was dropped; the bytes remain in the job's log. */
const gapFrameSchema = z.object({ id: z.string(), type: z.literal("gap"), frames: z.int() });

/** How far a call is that opted in to live output. Some may be left out; each says more than those before it. */
const progressFrameSchema = z.object({
  id: z.string(),
  type: z.literal("progress"),
  ...progressSchema.shape,
});

const pongFrameSchema = z.object({ type: z.literal("pong") });

/** The first frame on subprotocol `matrx.v1`. */
const helloFrameSchema = z.object({
  type: z.literal("hello"),
  protocol: z.literal(1),
  session: z.string(),
  device: z.string(),
});

/** The connection continues with the new token of an `auth`, until it expires. */
const authenticatedFrameSchema = z.object({ type: z.literal("authenticated"), expires: z.iso.datetime() });

/** Something that the device reported, for a caller that subscribed with the action `events`. */
const eventFrameSchema = z.object({ type: z.literal("event"), device: z.string(), event: eventViewSchema });

export const toCallerSchema = z.discriminatedUnion("type", [
  successFrameSchema,
  errorFrameSchema,
  acceptedFrameSchema,
  approvalFrameSchema,
  outputFrameSchema,
  gapFrameSchema,
  progressFrameSchema,
  pongFrameSchema,
  helloFrameSchema,
  authenticatedFrameSchema,
  eventFrameSchema,
]);
export type ToCaller = z.infer<typeof toCallerSchema>;
export type ErrorFrame = z.infer<typeof errorFrameSchema>;
