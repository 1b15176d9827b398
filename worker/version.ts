/** The relay's version, as its surfaces tell it. */
export const RELAY_VERSION = "0.1.0";
