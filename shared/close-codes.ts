/** Close codes of both links; each has a sentence for the person who meets it. */
export const CLOSE = {
  /** A newer connection of the same device took over. Do not dial again by yourself. */
  replaced: 4000,
  /** No sign of life for too long. Dial again. */
  silent: 4001,
  /** The peer broke the protocol beyond an error frame. */
  protocol: 4400,
  /** The credential is wrong or missing. Final for our agent only where the error before it says so (`details.final`). */
  unauthenticated: 4401,
  /** The grant or the device was revoked. */
  revoked: 4403,
  /** The relay does not know this device. */
  unknownDevice: 4404,
  /** The registration did not come in time, or others crowded the connection out: nothing was checked. Dial again. */
  unregistered: 4408,
  /** The caller reads too slowly (RFC 6455, 1013: try again later). */
  tooSlow: 1013,
} as const;

/** Whether a code may be sent back: a peer may send any number, but only some are valid (RFC 6455, section 7.4). */
export function isSendable(code: number): boolean {
  const known = code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006;
  return known || (code >= 3000 && code < 5000);
}

/** Cuts a reason to the 123 bytes of a close frame: a character beyond ASCII takes up to three. */
export function closeReason(text: string): string {
  return /^[ -~]*$/.test(text) ? text.slice(0, 123) : text.slice(0, 41);
}
