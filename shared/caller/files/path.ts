/** Paths of devices in URLs. */
import { relayError } from "../../errors.ts";

/** The path that a URL names after `/files/`. Throws MatrxError `INVALID_PARAMETERS`. */
export function pathIn({ url }: Request): string {
  const { pathname } = new URL(url);
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
