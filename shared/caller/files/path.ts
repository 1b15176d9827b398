/** Paths of devices in URLs. */
import { relayError } from "../../errors.ts";

/**
 * The path that a URL names after `/files/`, as it was sent: a URL that is resolved first, with `..` in it, can lose that
 * part, or name another device than the one that was routed to. Throws MatrxError `INVALID_PARAMETERS`.
 */
export function pathIn({ url }: Request): string {
  const [pathname = ""] = url.split(/[?#]/);
  const encoded = pathname.slice(pathname.indexOf("/files/") + "/files/".length);
  let path: string;
  try {
    path = decodeURIComponent(encoded);
  } catch {
    throw relayError("INVALID_PARAMETERS", "path: is not UTF-8 with percent signs", {
      hint: "Encode each part of the path by encodeURIComponent",
      details: { field: "path" },
    });
  }
  return /^(?:~|[a-z]:|\/)/i.test(path) ? path : `/${path}`;
}
