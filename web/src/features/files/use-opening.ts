/** What opening an entry does: a folder is gone into, a file is looked at. */
import { useNavigate } from "@tanstack/react-router";
import { sayProblem } from "../../ui/notices.ts";
import { type Entry, isFolder, isNamed, isReadable } from "./entries.ts";
import { joined, splatOf } from "./paths.ts";

export function useOpening(device: string, path: string): (entry: Entry) => void {
  const navigate = useNavigate();
  return (entry) => {
    const why = obstacleOf(entry);
    if (why) return sayProblem(new Error(why));
    const to = isFolder(entry) ? joined(path, entry.name) : path;
    const search = isFolder(entry) ? {} : { file: entry.name };
    void navigate({ to: "/d/$device/files/$", params: { device, _splat: splatOf(to) }, search });
  };
}

/** Why an entry can't be opened. */
function obstacleOf(entry: Entry): string | undefined {
  if (!isNamed(entry)) return "Its name is no valid UTF-8: only a command in a terminal can open it.";
  if (isFolder(entry) || isReadable(entry)) return undefined;
  if (entry.error !== undefined) return `The machine may not look at it (${entry.error}).`;
  if (entry.type === "symlink") return "This link leads to nothing that can be opened.";
  return `This is no file but a ${entry.type}: it has no content to show.`;
}
