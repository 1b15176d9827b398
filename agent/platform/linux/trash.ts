/** The trash of Linux desktops: the freedesktop.org Trash specification 1.0. */
import path from "node:path";
import type { TrashFolder, TrashWay } from "../trash.ts";

const PARTS = { files: "files", info: "info" } as const;

export const linuxTrash: TrashWay = {
  by: "folder",
  folders({ home, env, user, top }) {
    const { isAbsolute } = path.posix;
    const data = env.XDG_DATA_HOME && isAbsolute(env.XDG_DATA_HOME) ? env.XDG_DATA_HOME : undefined;
    const ofHome: TrashFolder[] = [];
    if (data) ofHome.push({ base: data, names: ["Trash"], ...PARTS });
    else if (isAbsolute(home)) ofHome.push({ base: home, names: [".local", "share", "Trash"], ...PARTS });
    return [
      ...ofHome,
      { base: top, names: [".Trash", String(user)], ...PARTS, writtenFrom: top, isShared: true },
      { base: top, names: [`.Trash-${user}`], ...PARTS, writtenFrom: top },
    ];
  },
};
