/** The tool that takes a picture of the screen. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { defineTool, type ToolResult } from "../core/tool.ts";
import { toolName } from "../core/tool-names.ts";
import { capture } from "../desktop/capture.ts";
import type { Desktop } from "../desktop/desktop.ts";
import type { Picture, PictureFormat } from "../desktop/screenshot.ts";
import type { Files } from "../fs/access.ts";
import { base64Length } from "../read/bytes.ts";

/** As base64 an image is a third longer, and must fit into a 16 MiB result frame. */
const IMAGE_MAX_BYTES = 10 * 1024 * 1024;

const input = z.strictObject({
  monitor: z
    .union([z.int().min(0), z.string().min(1).max(256)])
    .optional()
    .describe("Index from 0, id or name (default: the primary one)"),
  format: z.enum(["png", "jpeg", "jpg"]).optional().describe("png (default), or jpeg, which is smaller"),
});

export function screenshotTool(files: Files, desktop: Desktop) {
  return defineTool({
    name: "Screenshot",
    description: "Take a screenshot of the user's screen; returns the image.",
    details:
      "PNG unless you ask for another format; also saved in a temporary folder (the newest 20 are kept until the agent ends). The metadata has its size and the list of monitors.",
    input,
    unavailable: () => desktop.lackOfCamera(),
    model: { omit: ["format"] },
    timeoutMs: 60_000,
    async preview({ monitor }) {
      return { summary: `Take a picture of ${monitor === undefined ? "the screen" : `monitor ${monitor}`}` };
    },
    async handle({ monitor, format = "png" }, context) {
      const { signal, room } = context;
      // The size is not known in advance, so no picture is taken until there is room for the largest.
      await room(base64Length(IMAGE_MAX_BYTES));
      const wantedFormat: PictureFormat = format === "png" ? "png" : "jpeg";
      const wanted = { format: wantedFormat, monitor, mostBytes: IMAGE_MAX_BYTES };
      const surroundings = await desktop.surroundingsOf(files, context).forHelpers();
      const picture = await desktop.pictures.mutex.runExclusive(() =>
        capture(desktop, wanted, surroundings, signal),
      );
      const path = await desktop.pictures.keep(picture.bytes, picture.format === "png" ? "png" : "jpg");
      if (picture.bytes.length > IMAGE_MAX_BYTES) throw tooLarge(path, picture);
      return resultOf(path, picture, { wantedFormat, blankHint: desktop.platform.desktop.blankHint });
    },
  });
}

interface Wanted {
  readonly wantedFormat: PictureFormat;
  readonly blankHint: string;
}

function resultOf(path: string, picture: Picture, { wantedFormat, blankHint }: Wanted): ToolResult {
  const { bytes, ...facts } = picture;
  const { format, width, height, isOneColour, monitor, monitors, by } = facts;
  const where = monitor === undefined ? "the screen" : `monitor ${monitor}`;
  const notes = [
    `Screenshot of ${where}: ${width}x${height}, ${format}, ${bytes.length} bytes, saved as ${path}`,
  ];
  if (format !== wantedFormat) {
    notes.push(`[A PNG of it is larger than ${IMAGE_MAX_BYTES} bytes, so this is a JPEG of lower quality]`);
  }
  if (isOneColour) notes.push(`[The whole picture is one colour: ${blankHint}]`);
  return {
    output: notes.join("\n"),
    image: { media_type: `image/${format}`, base64_data: bytes.toString("base64") },
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
