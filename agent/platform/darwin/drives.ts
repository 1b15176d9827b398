/** Written from documents, not run. */
import type { Drive, ListDrives } from "../drives.ts";
import { runProgram } from "../run-program.ts";

/** Where the writable half of the system's volume is mounted; its users know it as `/`. */
const DATA = "/System/Volumes/Data";

export const darwinDrives: ListDrives = async () => {
  const { stdout } = await runProgram("/sbin/mount", [], { timeoutMs: 5000 });
  return parseMount(stdout.toString());
};

/** Lines such as `/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse)`. */
export function parseMount(text: string): Drive[] {
  return [...text.matchAll(/^\/dev\/\S+ on (.+) \(([^()]+)\)$/gm)].flatMap(([, path = "", options = ""]) => {
    const set = new Set(options.split(", "));
    if (path === DATA) return [{ name: "/", path }];
    const counted = set.has("local") && !set.has("read-only") && !set.has("nobrowse");
    return counted ? [{ name: path, path }] : [];
  });
}
