/** The clipboard of macOS. Written from documents, not run. */
import type { ClipboardPrograms } from "../platform.ts";

export const DARWIN_CLIPBOARD: ClipboardPrograms = {
  reader: { program: "/usr/bin/pbpaste", args: ["-Prefer", "txt"] },
  writer: { program: "/usr/bin/pbcopy", args: [], serves: false, stdinFor: (text) => text },
  // Without a locale, as a service has none, they take text for Mac Roman.
  env: { LC_ALL: "en_US.UTF-8" },
};
