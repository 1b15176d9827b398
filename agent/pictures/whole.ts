/** Whether nothing is missing at the end of a picture that a lenient decoder takes without it. */

/** The last chunk, and its checksum. */
const PNG_END = Buffer.from("IEND\xae\x42\x60\x82", "latin1");
const GIF_TRAILER = 0x3b;

/** `type` as `image-size` names it. Of other types the decoder itself misses the end. */
export function isWhole(picture: Buffer, type: string): boolean {
  if (type === "png") return picture.lastIndexOf(PNG_END) > 0;
  if (type === "gif") return picture.at(-1) === GIF_TRAILER;
  if (type === "webp") return picture.length >= 8 + picture.readUInt32LE(4);
  return true;
}
