/** Pictures on their way to a model, whose API refuses the whole conversation for a wrong one. */
import { describe, expect, it } from "vitest";
import { pictureForModel } from "../../../agent/pictures/for-model.ts";
import { bitmap, onePictureEach, redAndBlue, turnedJpeg } from "../../helpers/pictures.ts";
import { readPng } from "../../helpers/png.ts";

const PATIENT = 60_000;
const GENEROUS = { mostPixels: 64_000_000, mostMemory: 1024 * 1024 * 1024, mostMs: PATIENT };

const GRANT = { id: "grant" };

function shown(picture: Buffer, limits = GENEROUS, signal = new AbortController().signal) {
  return pictureForModel(() => picture, { grant: GRANT, signal }, limits);
}

describe("a picture for a model", () => {
  it("that is small and whole passes byte for byte", { timeout: PATIENT }, async () => {
    for (const [mediaType, bytes] of await onePictureEach()) {
      const picture = await shown(bytes);
      expect(picture).toMatchObject({ original: { mediaType }, shown: { mediaType }, isOriginal: true });
      expect(picture.shown.bytes).toEqual(bytes);
    }
  });

  it("that is too wide is scaled, its colours kept", { timeout: PATIENT }, async () => {
    const { original, shown: small, isOriginal } = await shown(redAndBlue(8100, 24));
    expect({ original, isOriginal }).toMatchObject({
      original: { width: 8100, height: 24 },
      isOriginal: false,
    });
    expect(small).toMatchObject({ mediaType: "image/png", width: 1568, height: 5 });
    const { colourAt, ...size } = readPng(small.bytes);
    expect(size).toEqual({ width: 1568, height: 5 });
    expect([colourAt(100, 2), colourAt(1500, 2)]).toEqual([
      [0xdd, 0x11, 0x11],
      [0x11, 0x22, 0xcc],
    ]);
  });

  it("that has too many bytes for its size is packed anew", { timeout: PATIENT }, async () => {
    const picture = await shown(Buffer.concat([redAndBlue(40, 30), Buffer.alloc(4_000_000)]));
    expect(picture).toMatchObject({ isOriginal: false, shown: { width: 40, height: 30 } });
    expect(picture.shown.bytes.length).toBeLessThan(10_000);
  });

  it("that was taken upright is shown upright", { timeout: PATIENT }, async () => {
    const lying = redAndBlue(1600, 40);
    const { original, shown: upright } = await shown(await turnedJpeg(lying, 6));
    expect(original).toMatchObject({ width: 40, height: 1600 });
    expect(upright).toMatchObject({ mediaType: "image/jpeg", width: 39, height: 1568 });
  });

  it("in a format that no model takes becomes a PNG", { timeout: PATIENT }, async () => {
    const { original, shown: png } = await shown(bitmap());
    expect(original.mediaType).toBe("image/bmp");
    expect(readPng(png.bytes)).toMatchObject({ width: 2, height: 1 });
  });

  it("that was cut short is refused in words, whatever its format", { timeout: PATIENT }, async () => {
    for (const bytes of (await onePictureEach()).values()) {
      const cut = shown(bytes.subarray(0, Math.floor(bytes.length * 0.6)));
      await expect(cut).rejects.toMatchObject({ name: "PictureFailed", reason: "damaged" });
    }
  });

  it("that is damaged, or none, is refused in words", { timeout: PATIENT }, async () => {
    const flipped = redAndBlue(40, 30);
    flipped.writeUInt8(flipped.readUInt8(60) ^ 0xff, 60);
    await expect(shown(flipped)).rejects.toMatchObject({ reason: "damaged" });
    await expect(shown(Buffer.from("no picture"))).rejects.toMatchObject({ reason: "damaged" });
    await expect(shown(Buffer.alloc(0))).rejects.toMatchObject({ reason: "damaged" });
    const drawing = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2"/>');
    await expect(shown(drawing)).rejects.toMatchObject({
      reason: "kind",
      message: expect.stringContaining("svg"),
    });
  });

  it("that would fill the memory is refused, even if its header hides that", {
    timeout: PATIENT,
  }, async () => {
    const bomb = redAndBlue(40, 30);
    bomb.writeUInt32BE(30_000, 16);
    bomb.writeUInt32BE(30_000, 20);
    const large = { reason: "limits", message: expect.stringContaining("30000x30000") };
    await expect(shown(bomb)).rejects.toMatchObject(large);
    // The canvas of one pixel has a frame of 65535x65535.
    const hidden = Buffer.from((await onePictureEach()).get("image/gif") ?? "");
    const frame = hidden.indexOf(0x2c);
    hidden.fill(0xff, frame + 5, frame + 9);
    await expect(shown(hidden)).rejects.toMatchObject({ name: "PictureFailed" });
    const little = { ...GENEROUS, mostMemory: 2 * 1024 * 1024 };
    await expect(shown(redAndBlue(2000, 200), little)).rejects.toMatchObject({ reason: "limits" });
  });

  it("is given up when its time is over, or nobody wants it any more", { timeout: PATIENT }, async () => {
    const picture = redAndBlue(40, 30);
    await expect(shown(picture, { ...GENEROUS, mostMs: 1 })).rejects.toMatchObject({ reason: "limits" });
    const stop = new AbortController();
    const stopped = shown(picture, GENEROUS, stop.signal);
    stop.abort(new Error("nobody waits"));
    await expect(stopped).rejects.toThrow("nobody waits");
  });
});

it("one caller's many pictures hold up nobody else's", { timeout: PATIENT }, async () => {
  const picture = redAndBlue(4, 4);
  const begun: string[] = [];
  const first = Promise.withResolvers<void>();
  const want = (id: string, until?: Promise<void>) => {
    const read = async () => {
      begun.push(id);
      await until;
      return picture;
    };
    const { signal } = new AbortController();
    return pictureForModel(read, { grant: { id }, signal }, GENEROUS);
  };
  const all = [want("guest", first.promise), want("guest"), want("guest"), want("owner")];
  first.resolve();
  await Promise.all(all);
  expect(begun).toEqual(["guest", "owner", "guest", "guest"]);
});
