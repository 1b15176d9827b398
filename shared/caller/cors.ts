/** What pages of other origins may send to the caller API, and may read of its answers. */
import { CALL_HEADER, DEVICE_HEADER, SESSION_HEADER } from "../tokens.ts";

/** What AI clients that run in browsers send to `/mcp` and to the addresses where they sign in. */
export const MCP_CORS_HEADERS = {
  allowMethods: ["GET", "POST", "DELETE"],
  allowHeaders: [
    "Authorization",
    "Content-Type",
    "Last-Event-ID",
    "Mcp-Method",
    "Mcp-Name",
    "MCP-Protocol-Version",
    "Mcp-Session-Id",
  ],
  exposeHeaders: ["Mcp-Session-Id", "MCP-Protocol-Version", "Retry-After", "WWW-Authenticate"],
  maxAge: 600,
};

export const CORS_HEADERS = {
  allowHeaders: [
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "Last-Event-ID",
    ...["Content-Digest", "Repr-Digest"],
    ...["Tus-Resumable", "Upload-Checksum", "Upload-Length", "Upload-Metadata", "Upload-Offset"],
    "X-HTTP-Method-Override",
    ...["If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Range"],
    CALL_HEADER,
    SESSION_HEADER,
    DEVICE_HEADER,
  ],
  exposeHeaders: [
    ...["Accept-Ranges", "Content-Disposition", "Content-Range", "ETag", "Repr-Digest"],
    ...["Tus-Checksum-Algorithm", "Tus-Extension", "Tus-Resumable", "Tus-Version"],
    ...["Upload-Expires", "Upload-Length", "Upload-Offset"],
    ...[CALL_HEADER, SESSION_HEADER, "Location", "Retry-After", "WWW-Authenticate"],
  ],
  maxAge: 600,
};
