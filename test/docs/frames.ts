/** Schemas of the frames that the code writes and never reads, so that it has interfaces for them only. */
import { eventViewSchema } from "@matrx/shared/api.ts";
import type {
  AcceptedFrame,
  Answer,
  AuthenticatedFrame,
  ConnectionError,
  EventFrame,
  GapFrame,
  HelloFrame,
  OutputFrame,
  ToCaller,
} from "@matrx/shared/caller-frames.ts";
import { ERROR_CODES } from "@matrx/shared/errors.ts";
import { answerSchema } from "@matrx/shared/openapi/bodies.ts";
import type { DeviceAssertion } from "@matrx/shared/tokens.ts";
import * as z from "zod";

const hop = z.enum(["caller", "relay", "device", "agent", "tool"]);

const answer = z.strictObject(answerSchema.shape);

const unreadable = z.strictObject({
  id: z.null(),
  type: z.literal("error"),
  output: z.string(),
  code: z.enum(ERROR_CODES),
  hint: z.string().exactOptional(),
  hop,
});

const output = z.strictObject({
  id: z.string(),
  type: z.literal("output"),
  channel: z.enum(["stdout", "stderr"]),
  offset: z.int(),
  data: z.string(),
});

const accepted = z.strictObject({ id: z.string(), type: z.literal("accepted"), call: z.string() });

const gap = z.strictObject({ id: z.string(), type: z.literal("gap"), frames: z.int() });

const hello = z.strictObject({
  type: z.literal("hello"),
  protocol: z.literal(1),
  session: z.string(),
  device: z.string(),
});

const authenticated = z.strictObject({ type: z.literal("authenticated"), expires: z.iso.datetime() });

const event = z.strictObject({
  type: z.literal("event"),
  device: z.string(),
  event: z.strictObject(eventViewSchema.shape),
});

const pong = z.strictObject({ type: z.literal("pong") });

export const deviceAssertionSchema = z.strictObject({ iss: z.string(), aud: z.string(), nonce: z.string() });

/** What a caller gets, by the word behind `ToCaller` in the document. */
export const TO_CALLER = {
  success: answer.extend({ type: z.literal("success") }),
  error: answer.extend({ type: z.literal("error"), code: z.enum(ERROR_CODES), hop }),
  unreadable,
  accepted,
  output,
  gap,
  pong,
  hello,
  authenticated,
  event,
} as const;

/** Same fields, same types. A frame that the code gained or changed fails the type check here. */
type Same<A, B> = [A, B, keyof A, keyof B] extends [B, A, keyof B, keyof A] ? true : false;
type Known =
  | z.infer<typeof answer>
  | z.infer<(typeof TO_CALLER)[Exclude<keyof typeof TO_CALLER, "success" | "error">]>;

true satisfies Same<z.infer<typeof answer>, Answer>;
true satisfies Same<z.infer<typeof unreadable>, ConnectionError>;
true satisfies Same<z.infer<typeof accepted>, AcceptedFrame>;
true satisfies Same<z.infer<typeof output>, OutputFrame>;
true satisfies Same<z.infer<typeof gap>, GapFrame>;
true satisfies Same<z.infer<typeof hello>, HelloFrame>;
true satisfies Same<z.infer<typeof authenticated>, AuthenticatedFrame>;
true satisfies Same<z.infer<typeof event>, EventFrame>;
true satisfies Same<Known, ToCaller>;
true satisfies Same<z.infer<typeof deviceAssertionSchema>, DeviceAssertion>;
