/** Frames of the caller link, checked by their schema. */
import { type ToCaller, toCallerSchema } from "@matrx/shared/caller/to-caller.ts";

/** Undefined: a newer relay may send what this program does not know. */
export function readFrame(text: string): ToCaller | undefined {
  try {
    return toCallerSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
