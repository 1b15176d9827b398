/** Links as QR codes, for a phone's camera. */

/** The margin around a QR code, in modules (ISO/IEC 18004). */
const QUIET_ZONE = 4;

/** An SVG document. The library is loaded when the first one is made. */
export async function qrCode(link: string): Promise<string> {
  const { renderSVG } = await import("uqr");
  return renderSVG(link, { pixelSize: 1, border: QUIET_ZONE });
}
