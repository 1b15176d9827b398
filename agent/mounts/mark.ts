/** The marks by which processes of mounted servers are known, and know themselves. */
import { hash } from "node:crypto";
import { jobIn } from "../platform/environment.ts";

const PREFIX = "mount-";

/** `folder` is one that only one program uses at a time. */
export function mountMark(folder: string, server: string): string {
  return `${PREFIX}${hash("sha256", JSON.stringify([folder, server])).slice(0, 16)}`;
}

/** Whether an agent has mounted this program as one of its servers. */
export function isMounted(env: NodeJS.ProcessEnv): boolean {
  return jobIn(env)?.startsWith(PREFIX) ?? false;
}
