/** The local server's token: created on first start, readable only by this user. */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Home } from "../config/app-dirs.ts";
import { readPrivateFile, writePrivateFile } from "../platform/private-file.ts";

/** The token in the file, which is created if missing. */
export function localToken(home: Home): string {
  const kept = readPrivateFile(home.localTokenFile)?.trim();
  if (kept) return kept;
  const token = randomBytes(32).toString("base64url");
  writePrivateFile(home.localTokenFile, `${token}\n`);
  return token;
}

/** Compares in constant time. */
export function isSameToken(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
