/** Pictures in a mounted tool's answer as models take them: one that a model's API refuses would end the conversation. */
import type { Content } from "@matrx/shared/content.ts";
import { type PictureCall, PictureFailed, pictureForModel } from "../pictures/for-model.ts";
import type { Album } from "../pictures/pictures.ts";

/** Where originals are kept that a model gets in another form, or not at all. */
export type KeptPictures = Pick<Album, "keep">;

/** The same parts. What was made of a picture, or why it is left out, is told in a text in its place. */
export async function withShownPictures(
  parts: readonly Content[],
  kept: KeptPictures,
  call: PictureCall,
): Promise<Content[]> {
  const shown: Content[] = [];
  for (const part of parts) {
    const picture = pictureIn(part);
    shown.push(...(picture ? await shownPicture(picture, kept, call) : [part]));
  }
  return shown;
}

interface PartPicture {
  readonly base64: string;
  readonly mediaType: string;
  /** The part with another picture. */
  withPicture(base64: string, mediaType: string): Content;
}

function pictureIn(part: Content): PartPicture | undefined {
  if (part.type === "image") {
    const withPicture = (data: string, mimeType: string) => ({ ...part, data, mimeType });
    return { base64: part.data, mediaType: part.mimeType, withPicture };
  }
  if (part.type !== "resource" || !("blob" in part.resource)) return undefined;
  const { resource } = part;
  if (!resource.mimeType?.startsWith("image/")) return undefined;
  const withPicture = (blob: string, mimeType: string) => ({
    ...part,
    resource: { ...resource, blob, mimeType },
  });
  return { base64: resource.blob, mediaType: resource.mimeType, withPicture };
}

async function shownPicture(picture: PartPicture, kept: KeptPictures, call: PictureCall): Promise<Content[]> {
  const bytes = Buffer.from(picture.base64, "base64");
  try {
    const { original, shown, isOriginal } = await pictureForModel(() => bytes, call);
    if (isOriginal) return [picture.withPicture(picture.base64, original.mediaType)];
    const { mediaType, width, height } = original;
    const path = await kept.keep(bytes, extensionOf(mediaType));
    const words = `Shown as ${shown.width}x${shown.height}; the original (${mediaType}, ${width}x${height}) is kept as ${path}`;
    return [picture.withPicture(shown.bytes.toString("base64"), shown.mediaType), note(words)];
  } catch (error) {
    if (!(error instanceof PictureFailed)) throw error;
    const path = await kept.keep(bytes, extensionOf(picture.mediaType));
    return [note(`A picture is left out, and kept as ${path}: ${error.message}`)];
  }
}

function note(words: string): Content {
  return { type: "text", text: `[${words}]` };
}

function extensionOf(mediaType: string): string {
  return /^image\/([a-z0-9]{1,8})/.exec(mediaType)?.[1] ?? "bin";
}
