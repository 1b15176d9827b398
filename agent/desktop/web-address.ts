/** Addresses that may be handed to the browser or the mail program. */

import { toolName } from "../tool-names.ts";
import { denied, wrongParameter } from "./errors.ts";

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

/** The address as it is to be opened: one word, beginning with its scheme. Throws MatrxError. */
export function openableAddress(text: string): string {
  const url = URL.parse(text);
  if (!url) {
    throw wrongParameter("url", `"${text.slice(0, 200)}" is no web address`, "Give it whole: https://...");
  }
  if (!SCHEMES.has(url.protocol)) {
    const isFile = url.protocol === "file:";
    throw denied(
      `Addresses that begin with ${url.protocol} are not opened; only http, https and mailto are`,
      isFile ? `Open a file with ${toolName("OpenPath")}` : "Give an address that begins with https://",
      { scheme: url.protocol.slice(0, -1) },
    );
  }
  if (url.protocol === "mailto:" && /[?&](?:attach|attachment)=/i.test(decoded(url.search))) {
    throw denied("A mail address that attaches a file is not opened", "Leave the attachment out");
  }
  return url.href;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
