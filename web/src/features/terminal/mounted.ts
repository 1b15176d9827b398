/** The terminals of a machine that are in the page now, for what works with the very ones that a person sees. */
import { useEffect } from "react";
import { create } from "zustand";
import type { Layout } from "./layout.ts";
import type { Room } from "./room.ts";
import type { ChangeLayout } from "./use-layout.ts";

export interface MountedTerminals {
  readonly device: string;
  readonly room: Room;
  readonly layout: Layout;
  readonly change: ChangeLayout;
}

/** Undefined: none are. */
export const useMountedTerminals = create<{ readonly mounted: MountedTerminals | undefined }>(() => ({
  mounted: undefined,
}));

export function usePublishedTerminals(
  device: string,
  room: Room | undefined,
  layout: Layout,
  change: ChangeLayout,
): void {
  useEffect(() => {
    if (room?.device === device) useMountedTerminals.setState({ mounted: { device, room, layout, change } });
  }, [device, room, layout, change]);
  useEffect(() => {
    return () => {
      const { mounted } = useMountedTerminals.getState();
      if (mounted?.room === room) useMountedTerminals.setState({ mounted: undefined });
    };
  }, [room]);
}
