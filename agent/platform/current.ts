/** The platform that this program runs on. */
import { darwin } from "./darwin/darwin.ts";
import { linux } from "./linux/linux.ts";
import type { Platform } from "./platform.ts";
import { windows } from "./windows/windows.ts";

export function currentPlatform(): Platform {
  if (process.platform === "win32") return windows;
  if (process.platform === "darwin") return darwin;
  return linux;
}
