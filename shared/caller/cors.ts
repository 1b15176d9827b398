/** What pages of other origins may send to the caller API, and may read of its answers. */
import { CALL_HEADER, DEVICE_HEADER, SESSION_HEADER } from "../tokens.ts";

export const CORS_HEADERS = {
  allowHeaders: [
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "Last-Event-ID",
    CALL_HEADER,
    SESSION_HEADER,
    DEVICE_HEADER,
  ],
  exposeHeaders: [CALL_HEADER, SESSION_HEADER, "Location", "Retry-After", "WWW-Authenticate"],
  maxAge: 600,
};
