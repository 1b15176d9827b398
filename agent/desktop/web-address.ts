/** Checks addresses that are passed to the browser or the mail program. */
import { toolName } from "../text/tool-names.ts";
import { deniedError, wrongParameterError } from "./errors.ts";

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

/** The normalized address. It begins with its scheme, so that no program takes it for an option. Throws MatrxError. */
export function openableAddress(text: string): string {
  const url = URL.parse(text);
  if (!url) {
    throw wrongParameterError(
      "url",
      `"${text.slice(0, 200)}" is not a web address`,
      "Give the full address: https://...",
    );
  }
  if (!SCHEMES.has(url.protocol)) {
    const isFile = url.protocol === "file:";
    throw deniedError(
      `Can't open ${url.protocol} addresses, only http, https and mailto`,
      isFile ? `Open a file with ${toolName("OpenPath")}` : "Give an address that begins with https://",
      { scheme: url.protocol.slice(0, -1) },
    );
  }
  if (url.protocol === "mailto:" && /[?&](?:attach|attachment)=/i.test(decoded(url.search))) {
    throw deniedError("Can't open a mail address that attaches a file", "Omit the attachment");
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
