/** The room of a machine, for as long as its page is shown. */
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useEffectEvent, useState } from "react";
import { useDevice } from "../../data/devices.ts";
import { isOnline } from "../../ui/device-words.ts";
import { coloursOf } from "./colours.ts";
import { allPanes, type Layout } from "./layout.ts";
import { Room, type RoomListener } from "./room.ts";

/** Undefined: not yet. */
export function useRoom(device: string, layout: Layout, listener: RoomListener): Room | undefined {
  const scheme = useComputedColorScheme("dark", { getInitialValueInEffect: false });
  const [room, setRoom] = useState<Room>();
  const onCommand = useEffectEvent(listener.onCommand);
  const onFocus = useEffectEvent(listener.onFocus);
  const onTitle = useEffectEvent(listener.onTitle);
  const make = useEffectEvent(
    (of: string) => new Room(of, coloursOf(scheme), { onCommand, onFocus, onTitle }),
  );
  useEffect(() => {
    const made = make(device);
    setRoom(made);
    return () => {
      made.close();
      setRoom(undefined);
    };
  }, [device]);
  useEffect(() => room?.setTheme(coloursOf(scheme)), [room, scheme]);
  useEffect(() => room?.keepOnly(allPanes(layout)), [room, layout]);
  const view = useDevice(device);
  const isThere = view !== undefined && isOnline(view);
  useEffect(() => {
    // Whoever waits for the machine need not wait longer.
    if (isThere) room?.link.wake();
  }, [room, isThere]);
  return room;
}
