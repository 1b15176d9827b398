/** What `Read` returns for an image: a picture that models take, or on request the file itself. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { ToolContext, ToolResult } from "../core/tool.ts";
import type { OpenFile } from "../fs/open-file.ts";
import {
  type ModelPicture,
  PICTURE_MOST_BYTES,
  PictureFailed,
  pictureForModel,
  SHOWN_MOST_BYTES,
} from "../pictures/for-model.ts";
import { toolName } from "../text/tool-names.ts";
import { base64Length, factsOf } from "./bytes.ts";
import { readAll } from "./not-text.ts";

/** As base64 an image is a third longer, and must fit into a 16 MiB result frame. */
const RAW_MOST_BYTES = 10 * 1024 * 1024;

/** The file as it is. Throws MatrxError if it is too large. */
export async function rawImage(
  file: OpenFile,
  mediaType: string,
  room: ToolContext["room"],
): Promise<ToolResult> {
  const size = requireSize(file, RAW_MOST_BYTES, "Read its bytes with encoding=base64");
  await room(base64Length(size));
  const bytes = await readAll(file.handle, size);
  return {
    output: `[Image ${file.place.shown}: ${mediaType}, ${size} bytes]`,
    image: { media_type: mediaType, base64_data: bytes.toString("base64") },
    metadata: { ...factsOf(file), media_type: mediaType },
  };
}

/** As models take it. Throws MatrxError if it is too large, or cannot be decoded. */
export async function readImage(
  file: OpenFile,
  context: Pick<ToolContext, "room" | "signal" | "grant">,
): Promise<ToolResult> {
  const size = requireSize(
    file,
    PICTURE_MOST_BYTES,
    `Make a smaller copy of it with ${toolName("Bash")}, and read that`,
  );
  const read = async () => {
    // Not before its turn: others' answers would wait for room meanwhile.
    await context.room(base64Length(Math.min(size, SHOWN_MOST_BYTES)));
    return readAll(file.handle, size);
  };
  const picture = await pictureForModel(read, context).catch((error: unknown) => {
    throw error instanceof PictureFailed ? notShown(file, error) : error;
  });
  return resultOf(file, size, picture);
}

function resultOf(file: OpenFile, size: number, { original, shown, isOriginal }: ModelPicture): ToolResult {
  const { mediaType, width, height } = original;
  const facts = `${mediaType}, ${size} bytes, ${width}x${height}`;
  const note = isOriginal ? "" : `, shown as ${shown.width}x${shown.height}`;
  return {
    output: `[Image ${file.place.shown}: ${facts}${note}]`,
    image: { media_type: shown.mediaType, base64_data: shown.bytes.toString("base64") },
    metadata: {
      ...factsOf(file),
      media_type: mediaType,
      width,
      height,
      ...(!isOriginal && {
        shown: { media_type: shown.mediaType, width: shown.width, height: shown.height },
      }),
    },
  };
}

function requireSize(file: OpenFile, most: number, hint: string): number {
  const size = Number(file.stat.size);
  if (size <= most) return size;
  throw toolError(
    "PAYLOAD_TOO_LARGE",
    `${file.place.shown} is an image of ${size} bytes; at most ${most} can be returned`,
    { hint, details: { ...factsOf(file), limit_bytes: most } },
  );
}

function notShown(file: OpenFile, { reason, message }: PictureFailed): MatrxError {
  const shell = toolName("Bash");
  return toolError("TOOL_EXECUTION_FAILED", `${file.place.shown} cannot be shown as an image: ${message}`, {
    hint:
      reason === "damaged"
        ? `Get it again, or look into it with ${shell}, for example: file, hexdump -C`
        : `Make a smaller copy of it with ${shell}, and read that`,
    details: { ...factsOf(file), reason },
  });
}
