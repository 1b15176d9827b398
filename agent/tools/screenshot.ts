/** The tool that takes a picture of the screen. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { defineTool, type ToolContext, type ToolResult } from "../core/tool.ts";
import { capture } from "../desktop/capture.ts";
import type { Desktop } from "../desktop/desktop.ts";
import type { Picture, PictureFormat } from "../desktop/screenshot.ts";
import type { Files } from "../fs/access.ts";
import { type PictureCall, PictureFailed, pictureForModel, SHOWN_MOST_BYTES } from "../pictures/for-model.ts";
import type { Album } from "../pictures/pictures.ts";
import { base64Length } from "../read/bytes.ts";
import { toolName } from "../text/tool-names.ts";

/** Of a picture that is sent as it is: as base64 it is a third longer, and must fit into a 16 MiB result frame. */
const IMAGE_MAX_BYTES = 10 * 1024 * 1024;

const input = z.strictObject({
  monitor: z
    .union([z.int().min(0), z.string().min(1).max(256)])
    .optional()
    .describe("Index from 0, id or name (default: the primary one)"),
  format: z
    .enum(["png", "jpeg", "jpg"])
    .optional()
    .describe("Return the whole picture as png or jpeg; without it, one that models take"),
});

export function screenshotTool(files: Files, desktop: Desktop) {
  return defineTool({
    name: "Screenshot",
    family: "desktop",
    effect: "execute",
    description: "Take a screenshot of the user's screen; returns the image.",
    details:
      "Without a format, its longest side is at most 1568 pixels. The whole picture is saved in a temporary folder (the newest 20 are kept until the agent ends). The metadata has its size and the list of monitors.",
    input,
    unavailable: () => desktop.lackOfCamera(),
    model: { prompt: "Capture the screen", omit: ["format"] },
    timeoutMs: 60_000,
    async preview({ monitor }) {
      return { summary: `Take a picture of ${monitor === undefined ? "the screen" : `monitor ${monitor}`}` };
    },
    handle(wish, context) {
      const album = desktop.pictures.of(context.grant.id);
      return album.mutex.runExclusive(() => take(files, desktop, { ...wish, album }, context));
    },
  });
}

interface Wish extends z.output<typeof input> {
  readonly album: Album;
}

async function take(
  files: Files,
  desktop: Desktop,
  { monitor, format, album }: Wish,
  context: ToolContext,
): Promise<ToolResult> {
  const { signal, room } = context;
  signal.throwIfAborted();
  // The size is not known in advance, so no picture is taken until there is room for the largest.
  await room(base64Length(format === undefined ? SHOWN_MOST_BYTES : IMAGE_MAX_BYTES));
  const wantedFormat: PictureFormat = format === undefined || format === "png" ? "png" : "jpeg";
  const wanted = { format: wantedFormat, monitor, mostBytes: IMAGE_MAX_BYTES };
  const surroundings = await desktop.surroundingsOf(files, context).forHelpers();
  const picture = await desktop.pictures.mutex.runExclusive(() =>
    capture(desktop, wanted, { ...surroundings, album, signal }),
  );
  const path = await album.keep(picture.bytes, picture.format === "png" ? "png" : "jpg");
  const of = { path, picture, wantedFormat, blankHint: desktop.platform.desktop.blankHint };
  if (format === undefined) return resultOf(of, await shownOf(picture, context));
  if (picture.bytes.length > IMAGE_MAX_BYTES) throw tooLarge(path, picture);
  return resultOf(of, { image: imageOf(picture.bytes, `image/${picture.format}`) });
}

interface Taken {
  readonly path: string;
  readonly picture: Picture;
  readonly wantedFormat: PictureFormat;
  readonly blankHint: string;
}

/** What the caller gets of the picture, and what is said about that. */
interface Shown {
  readonly image?: NonNullable<ToolResult["image"]>;
  readonly note?: string;
}

async function shownOf({ bytes }: Picture, call: PictureCall): Promise<Shown> {
  try {
    const { shown, isOriginal } = await pictureForModel(() => bytes, call);
    const image = imageOf(shown.bytes, shown.mediaType);
    return isOriginal ? { image } : { image, note: `[Shown as ${shown.width}x${shown.height}]` };
  } catch (error) {
    if (!(error instanceof PictureFailed)) throw error;
    return {
      note: `[It can't be shown: ${error.message}. Choose one monitor, or make a smaller copy of the file]`,
    };
  }
}

function imageOf(bytes: Buffer, mediaType: string) {
  return { media_type: mediaType, base64_data: bytes.toString("base64") };
}

function resultOf({ path, picture, wantedFormat, blankHint }: Taken, { image, note }: Shown): ToolResult {
  const { bytes, format, width, height, isOneColour, monitor, monitors, by } = picture;
  const where = monitor === undefined ? "the screen" : `monitor ${monitor}`;
  const notes = [
    `Screenshot of ${where}: ${width}x${height}, ${format}, ${bytes.length} bytes, saved as ${path}`,
  ];
  if (note) notes.push(note);
  if (format !== wantedFormat) {
    notes.push(`[A PNG of it is larger than ${IMAGE_MAX_BYTES} bytes, so this is a JPEG of lower quality]`);
  }
  if (isOneColour) notes.push(`[The whole picture is one colour: ${blankHint}]`);
  return {
    output: notes.join("\n"),
    ...(image && { image }),
    metadata: {
      path,
      width,
      height,
      media_type: `image/${format}`,
      size: bytes.length,
      taken_by: by,
      ...(isOneColour !== undefined && { one_colour: isOneColour }),
      ...(monitor !== undefined && { monitor }),
      ...(monitors && { monitors }),
    },
  };
}

function tooLarge(path: string, { bytes, width, height }: Picture): MatrxError {
  return toolError(
    "PAYLOAD_TOO_LARGE",
    `The picture (${width}x${height}) has ${bytes.length} bytes even as JPEG; at most ${IMAGE_MAX_BYTES} can be returned`,
    {
      hint: `It is saved as ${path}: make a smaller copy of it with ${toolName("Bash")}, or choose one monitor`,
      details: { path, width, height, size: bytes.length, limit_bytes: IMAGE_MAX_BYTES },
    },
  );
}
