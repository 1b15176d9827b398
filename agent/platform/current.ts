/** The platform that this program runs on. */
import { darwin } from "./darwin.ts";
import { linux } from "./linux.ts";
import type { Platform } from "./platform.ts";
import { windows } from "./windows.ts";

export function currentPlatform(): Platform {
  if (process.platform === "win32") return windows;
  if (process.platform === "darwin") return darwin;
  return linux;
}
