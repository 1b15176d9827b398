/** The terminals beside the files of a machine: whether the address has them, where they are, and what is kept of that. */
import { useMediaQuery } from "@mantine/hooks";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useEffectEvent, useState } from "react";
import {
  type Front,
  isShown,
  isSide,
  type SavedWorkspace,
  type Side,
  savedWorkspace,
  saveWorkspace,
} from "./saved.ts";

export interface FilesWorkspace {
  readonly isOpen: boolean;
  /** Where the terminals are, or would be. Below, where the window has no room beside. */
  readonly side: Side;
  /** The window has room for them on either side. */
  readonly hasChoice: boolean;
  /** The files' part, in percent: all, or nothing, on a phone. */
  readonly share: number;
  readonly isPhone: boolean;
  readonly front: Front;
  /** Where they were last, or elsewhere. */
  open(side?: Side): void;
  close(): void;
  resize(share: number): void;
  show(front: Front): void;
}

/** `folder`: the one that is shown, as the address has it. */
export function useWorkspace(device: string, folder: string): FilesWorkspace {
  const { terminal } = useSearch({ from: "/d/$device/files/$" });
  const navigate = useNavigate();
  const isPhone = useMatch("(max-width: 767px)");
  const hasChoice = useMatch("(min-width: 1100px)");
  const [saved, setSaved] = useState(() => savedWorkspace(device));
  const change = (part: Partial<SavedWorkspace>) => {
    saveWorkspace(device, part);
    setSaved({ ...saved, ...part });
  };
  const isOpen = isShown(terminal);
  const asked = isSide(terminal) ? terminal : undefined;
  const go = (to: Side | undefined, at = folder) =>
    void navigate({
      ...{ to: "/d/$device/files/$", params: { device, _splat: at }, replace: true },
      search: (before) => ({ ...before, terminal: to }),
    });
  const follow = useEffectEvent(() => {
    if (isOpen && !asked) go(saved.side, folder || saved.folder);
    else if (folder !== "") change({ folder, isOpen, side: asked ?? saved.side });
    // Whoever comes without a folder finds the terminals as they were left.
    else if (saved.isOpen && !isOpen) go(saved.side);
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: these are what it follows.
  useEffect(() => follow(), [device, folder, terminal]);
  const side = hasChoice ? (asked ?? saved.side) : "below";
  const phoneShare = saved.front === "files" ? 100 : 0;
  return {
    ...{ isOpen, side, hasChoice, isPhone, front: saved.front },
    share: isPhone ? phoneShare : saved.shares[side],
    open(to = saved.side) {
      change({ side: to, front: "terminal" });
      go(to);
    },
    close() {
      change({ isOpen: false });
      go(undefined);
    },
    resize: (share) => change({ shares: { ...saved.shares, [side]: share } }),
    show: (front) => change({ front }),
  };
}

function useMatch(query: string): boolean {
  return useMediaQuery(query, undefined, { getInitialValueInEffect: false }) ?? false;
}
