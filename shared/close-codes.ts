/** Close codes of both links; each has a sentence for the person who meets it. */
export const CLOSE = {
  /** A newer connection of the same device took over. Do not dial again by yourself. */
  replaced: 4000,
  /** No sign of life for too long. Dial again. */
  silent: 4001,
  /** The peer broke the protocol beyond an error frame. */
  protocol: 4400,
  /** The credential is wrong or missing. */
  unauthenticated: 4401,
  /** The grant or the device was revoked. */
  revoked: 4403,
  /** The relay does not know this device. */
  unknownDevice: 4404,
  /** The caller reads too slowly (RFC 6455, 1013: try again later). */
  tooSlow: 1013,
} as const;
